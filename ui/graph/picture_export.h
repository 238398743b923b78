// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exports the graph as displayed, including groups and metric, to an image file. Uses the painter of the
// canvas, always with light colors.

#include <QAction>
#include <QFont>
#include <QMenu>
#include <string>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

/// All data needed for painting, so that it can be done on any thread.
struct DrawnGraph {
    PicturePtr picture;
    std::vector<NodeLook> looks;
    QFont font;
    MetricScale scale;  ///< of the metric that is shown
    QString title;
};
DrawnGraph drawnGraph(const Document& document, const GraphCanvas& canvas);

/// Returns the bytes of a PNG file with `scale` pixels per point, or fewer if the image would exceed 16,000
/// pixels. Throws Error. Any thread.
std::string pngOf(const DrawnGraph& graph, double scale);
/// Returns the bytes of a PDF file with one page, which is as large as the graph but at most 200 inches (the
/// limit of PDF). Any thread.
std::string pdfOf(const DrawnGraph& graph);

/// Adds the actions "Graph as PNG" and "Graph as PDF", which ask for a file. They need a model.
QList<QAction*> addPictureExports(QMenu* menu, Document* document, GraphCanvas* canvas, QWidget* window);

}  // namespace quantloupe::ui
