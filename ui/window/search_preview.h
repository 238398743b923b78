// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows in the graph which layers would change if a point of the search for precisions were applied.

#include <QObject>

#include "document/document.h"
#include "graph/graph_canvas.h"
#include "panels/tune_finder.h"

namespace quantloupe::ui {

class SearchPreview : public QObject {
    Q_OBJECT
  public:
    SearchPreview(Document* document, GraphCanvas* canvas, TuneFinder* finder, QObject* parent);

  private:
    void show(const TunePoint* point);

    Document* m_document;
    GraphCanvas* m_canvas;
    bool m_shown = false;  ///< otherwise a preview of the canvas belongs to a rule
};

}  // namespace quantloupe::ui
