// SPDX-License-Identifier: Apache-2.0 Keyboard handling of the canvas, and moving along its edges.
#include <QKeyEvent>
#include <cmath>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Space:
            Q_EMIT toggleRequested();
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            zoomStep(1.25);
            return;
        case Qt::Key_Minus:
            zoomStep(0.8);
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (const auto box = currentBox();
                !box || !chooser()->endUntil(*box, event->modifiers() & Qt::ControlModifier))
                centerOn(m_document->current());
            return;
        case Qt::Key_Escape:
            if (chooser()->choosingUntil())
                chooser()->cancelUntil();
            else
                event->ignore();
            return;
        default:
            if (walk(event->key())) return;
            QWidget::keyPressEvent(event);
    }
}

/// In a layout from top to bottom, Up and Down follow the straightest edge, and Left and Right go to the
/// nearest box on that side. In a layout from left to right, the keys are exchanged.
std::optional<std::size_t> GraphCanvas::neighbor(std::size_t box, int key) const {
    const bool turned = m_picture->arrangement == Arrangement::Right;
    const auto turn = [turned](const QRectF& rect) {
        return turned ? QRectF(rect.y(), rect.x(), rect.height(), rect.width()) : rect;
    };
    const auto rectOf = [&](std::size_t other) { return turn(toRectF(m_picture->nodes[other].box)); };
    if (turned)
        key = key == Qt::Key_Right  ? Qt::Key_Down
              : key == Qt::Key_Left ? Qt::Key_Up
              : key == Qt::Key_Down ? Qt::Key_Right
                                    : Qt::Key_Left;
    const QRectF here = rectOf(box);
    std::optional<std::size_t> best;
    double bestDistance = 0;
    const auto offer = [&](std::size_t other, double distance) {
        if (!layerOf(other).valid() || (best && distance >= bestDistance)) return;
        best = other;
        bestDistance = distance;
    };
    const auto sideways = [&](std::size_t other) {
        return std::abs(rectOf(other).center().x() - here.center().x());
    };
    if (key == Qt::Key_Down)
        for (const std::size_t e : m_index.edgesOutOf(box))
            offer(m_picture->edges[e].to, sideways(m_picture->edges[e].to));
    if (key == Qt::Key_Up)
        for (const std::size_t e : m_index.edgesInto(box))
            offer(m_picture->edges[e].from, sideways(m_picture->edges[e].from));
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const bool left = key == Qt::Key_Left;
        const double reach = here.height() * 3;
        const QRectF all = turn(m_index.bounds());
        const QRectF strip(all.left(), here.top() - reach, all.width(), here.height() + 2 * reach);
        for (const std::size_t other : m_index.nodesIn(turn(strip))) {
            const QPointF there = rectOf(other).center();
            const double dx = left ? here.center().x() - there.x() : there.x() - here.center().x();
            if (other != box && dx > here.width() / 4)
                offer(other, dx + 2 * std::abs(there.y() - here.center().y()));
        }
    }
    return best;
}

bool GraphCanvas::walk(int key) {
    if (key != Qt::Key_Down && key != Qt::Key_Up && key != Qt::Key_Left && key != Qt::Key_Right &&
        key != Qt::Key_Home && key != Qt::Key_End)
        return false;
    if (!m_picture || !m_graph || m_graph->nodeCount() == 0) return true;
    const auto here = currentBox();
    std::optional<std::size_t> next;
    if (key == Qt::Key_Home || !here)
        next = m_index.boxOf(NodeId(0));
    else if (key == Qt::Key_End)
        next = m_index.boxOf(NodeId(m_graph->nodeCount() - 1));
    else
        next = neighbor(*here, key);
    if (next) {
        m_pointer.reset();
        setHovered(std::nullopt);
        selectBox(*next, false);
        ensureVisible(layerOf(*next));
        if (chooser()->choosingUntil()) chooser()->previewUntil();
    }
    return true;
}

}  // namespace quantloupe::ui
