// SPDX-License-Identifier: Apache-2.0
#pragma once
// The predicted effect of the previewed rule on accuracy, if the engine can predict it reliably. The
// prediction resolves states and adds up sensitivities without running the network. It starts when the
// preview has not changed for a moment.

#include <QObject>

#include "document/document.h"
#include "graph/graph_canvas.h"

namespace quantloupe::ui {

/// "expected +3.2 points (2.0 to 4.1)".
QString expectedWords(const ExpectedEffect& effect);

class PreviewForecast : public QObject {
    Q_OBJECT
  public:
    PreviewForecast(Document* document, GraphCanvas* canvas, QObject* parent);
    /// The prediction for the current preview; empty if there is none (yet).
    const QString& text() const { return m_text; }

  Q_SIGNALS:
    void changed();

  private:
    void previewChanged();
    void query();
    void setText(const QString& text);

    Document* m_document;
    GraphCanvas* m_canvas;
    Delay m_delay{80};
    NodeSet m_covered;  ///< layers that `text` is about
    QString m_text;
};

}  // namespace quantloupe::ui
