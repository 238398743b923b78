// SPDX-License-Identifier: Apache-2.0 Layout options of the canvas: box sizes, available space, arrangement.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

namespace {
constexpr double kRoomStep = 50;  ///< small changes of the window size must not change the layout
}

LayoutOptions GraphCanvas::layoutOptionsFor(const QFont& font) {
    const QFontMetricsF metrics(font);
    LayoutOptions options;
    options.nodeHeight = std::max(34.0, std::round(metrics.height() * 2.1));
    options.rowHeight = std::max(13.0, std::round(metrics.height() * 0.8));
    options.nodeWidth = std::max(168.0, std::round(metrics.height() * 10.5 / 8) * 8);
    options.tidy = options.compact = true;
    options.arrangement = Arrangement::Largest;
    return options;
}

void GraphCanvas::tellRoom() {
    const QSizeF room = fitArea().size();
    m_document->setLayoutRoom(std::round(room.width() / kRoomStep) * kRoomStep,
                              std::round(room.height() / kRoomStep) * kRoomStep);
}

void GraphCanvas::arrange(Arrangement arrangement) {
    LayoutOptions options = m_document->layoutOptions();
    options.arrangement = arrangement;
    if (options == m_document->layoutOptions()) return fitAll();
    m_fitsNext = true;
    m_document->setLayoutOptions(options);
}

void GraphCanvas::changeFont() {
    const LayoutOptions sizes = layoutOptionsFor(font());
    LayoutOptions options = m_document->layoutOptions();
    options.nodeWidth = sizes.nodeWidth, options.nodeHeight = sizes.nodeHeight;
    options.rowHeight = sizes.rowHeight;
    m_document->setLayoutOptions(options);
}

}  // namespace quantloupe::ui
