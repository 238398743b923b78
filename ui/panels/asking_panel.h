// SPDX-License-Identifier: Apache-2.0
#pragma once
// A panel that queries its content from the session while it is visible and once the evaluation is done. The
// previous answer stays, marked as stale, until the next one arrives.

#include <QTimer>
#include <QWidget>
#include <optional>

#include "document/document.h"

namespace quantloupe::ui {

class AskingPanel : public QWidget {
    Q_OBJECT
  public:
    AskingPanel(Document* document, const QString& slot, QWidget* parent = nullptr);
    /// Whether the answer belongs to a previous configuration.
    bool stale() const { return m_answered && *m_answered != m_document->config(); }
    bool answered() const { return m_answered.has_value(); }

  Q_SIGNALS:
    void answerChanged();

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    /// Called on the GUI thread; the function that it returns runs on the engine's thread.
    virtual EvaluationJob::Query question(const QuantizationConfig& config) = 0;
    /// A new answer (`refusal` empty), none (after a new model), or why there is none; or it became stale.
    virtual void showAnswer(const QString& refusal) = 0;
    Document* document() const { return m_document; }
    void askAgain();

  private:
    void plan();
    void ask();

    Document* m_document;
    QString m_slot;
    QTimer m_delay;
    std::optional<QuantizationConfig> m_answered;
};

}  // namespace quantloupe::ui
