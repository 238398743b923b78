// SPDX-License-Identifier: Apache-2.0
#pragma once
// The drawn graph as displayed, including groups and metric, as an image file: painted by the canvas's own
// painter, always in light colors.

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

/// Bytes of a PNG file. `scale` pixels per point, fewer for a graph that would exceed 16,000 pixels. Throws
/// Error. Any thread.
std::string pngOf(const DrawnGraph& graph, double scale);
/// Bytes of a PDF file of one page, as large as the graph, or 200 inches, which is all that PDF allows. Any
/// thread.
std::string pdfOf(const DrawnGraph& graph);

/// Adds "Graph as PNG" and "Graph as PDF", which ask for a file. They need a model.
QList<QAction*> addPictureExports(QMenu* menu, Document* document, GraphCanvas* canvas, QWidget* window);

}  // namespace quantloupe::ui
