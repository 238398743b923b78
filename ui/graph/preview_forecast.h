// SPDX-License-Identifier: Apache-2.0
#pragma once
// The predicted effect of the previewed rule on accuracy, as soon as the engine can predict it reliably: it
// resolves states and adds up sensitivities without running the network. Waits until the preview has not
// changed for a moment.

#include <QObject>
#include <QTimer>

#include "document/document.h"
#include "graph/graph_canvas.h"

namespace quantloupe::ui {

/// "expected +3.2 points (2.0 to 4.1)".
QString expectedWords(const ExpectedEffect& effect);

class PreviewForecast : public QObject {
    Q_OBJECT
  public:
    PreviewForecast(Document* document, GraphCanvas* canvas, QObject* parent);
    /// Of the preview that is shown; empty: none, or not known (yet).
    const QString& text() const { return m_text; }

  Q_SIGNALS:
    void changed();

  private:
    void previewChanged();
    void ask();
    void setText(const QString& text);

    Document* m_document;
    GraphCanvas* m_canvas;
    QTimer m_delay;
    NodeSet m_covered;  ///< that `text` is of
    QString m_text;
};

}  // namespace quantloupe::ui
