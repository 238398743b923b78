// SPDX-License-Identifier: Apache-2.0
#pragma once
// A panel that queries its content from the session when it is visible and the evaluation has finished. The
// previous answer is kept, marked as stale, until the next one arrives.

#include <QWidget>
#include <optional>

#include "document/document.h"

namespace quantloupe::ui {

class QueryPanel : public QWidget {
    Q_OBJECT
  public:
    QueryPanel(Document* document, QuerySlot slot, QWidget* parent = nullptr);
    /// Whether the answer belongs to a previous configuration.
    bool stale() const;
    bool answered() const { return m_answered.has_value(); }

  Q_SIGNALS:
    void answerChanged();

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    /// Called on the GUI thread; the function that it returns runs on the engine's thread.
    virtual EvaluationJob::Query makeQuery(const QuantizationConfig& config) = 0;
    /// Called when there is a new answer (`refusal` is empty), when there is none (after a new model, or for
    /// the reason in `refusal`), and when the answer becomes stale.
    virtual void showAnswer(const QString& refusal) = 0;
    Document* document() const { return m_document; }
    void queryAgain();

  private:
    void plan();
    void query();

    Document* m_document;
    QuerySlot m_slot;
    Delay m_delay{60};
    std::optional<QuantizationConfig> m_answered;
    bool m_asked = false;     ///< the answer is on its way
    bool m_askAgain = false;  ///< other work has cancelled the query
};

}  // namespace quantloupe::ui
