// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel, pinch, keyboard and hints of the canvas.
#include <QApplication>
#include <QContextMenuEvent>
#include <QGestureEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "graph/graph_canvas.h"
#include "model/reachability.h"

namespace quantloupe::ui {

std::optional<std::size_t> GraphCanvas::boxAt(QPointF view) const {
    if (!m_picture) return std::nullopt;
    return m_index.nodeAt(m_transform.toScene(view));
}

NodeId GraphCanvas::layerOf(std::size_t box) const {
    const PictureNode& node = m_picture->nodes[box];
    return node.kind == PictureNode::Kind::Layer ? node.layer : NodeId();
}

bool GraphCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showToolTip(help->pos(), help->globalPos());
        return true;
    }
    if (event->type() == QEvent::NativeGesture) {
        const auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            zoomAt(gesture->position(), 1 + gesture->value());
            return true;
        }
    }
    if (event->type() == QEvent::Gesture) {
        auto* gestures = static_cast<QGestureEvent*>(event);
        if (auto* pinch = static_cast<QPinchGesture*>(gestures->gesture(Qt::PinchGesture))) {
            zoomAt(mapFromGlobal(pinch->centerPoint()), pinch->scaleFactor());
            return true;
        }
    }
    return QWidget::event(event);
}

void GraphCanvas::showToolTip(QPoint position, QPoint global) {
    const auto box = boxAt(position);
    if (!box) {
        QToolTip::hideText();
        return;
    }
    const PictureNode& node = m_picture->nodes[*box];
    QString text;
    if (const NodeId id = layerOf(*box); id.valid()) {
        text =
            QStringLiteral("<b>%1</b>").arg(QString::fromStdString(m_graph->node(id).name).toHtmlEscaped());
        text += QStringLiteral("<br>") + QString::fromStdString(node.title).toHtmlEscaped();
        if (const LayerResult* layer = m_document->layer(id)) {
            text += QStringLiteral(" \u00b7 ") + stateText(layer->state);
            if (!layer->reason.empty())
                text += QStringLiteral("<br>") + QString::fromStdString(layer->reason).toHtmlEscaped();
            if (layer->local) {
                text += QStringLiteral("<br>QS local ") + formatQs(layer->local->qs);
                if (layer->state == LayerState::Skipped) text += QStringLiteral(" if it were quantized");
            }
            if (layer->cumulative)
                text += QStringLiteral("<br>QS cumulative ") + formatQs(layer->cumulative->qs);
        }
    } else {
        text = QStringLiteral("<b>%1</b><br>%2")
                   .arg(QString::fromStdString(node.title).toHtmlEscaped(),
                        QString::fromStdString(node.subtitle).toHtmlEscaped());
    }
    QToolTip::showText(global, text, this);
}

void GraphCanvas::setHovered(std::optional<std::size_t> box) {
    if (m_scene.hovered == box) return;
    m_scene.hovered = box;
    if (choosingUntil()) previewUntil();
    update();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    m_pressed = m_last = event->position();
    if (event->button() == Qt::MiddleButton) {
        m_drag = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
        return;
    }
    const auto box = boxAt(event->position());
    const NodeId layer = box ? layerOf(*box) : NodeId();
    if (event->button() == Qt::RightButton) {
        if (layer.valid() && !m_document->isSelected(layer)) m_document->select(layer);
        return;
    }
    if (event->button() != Qt::LeftButton) return;
    if (choosingUntil() && layer.valid()) {
        const NodeId from = m_untilFrom;
        cancelUntil();
        if (layer != from) Q_EMIT untilChosen(from, layer);
        return;
    }
    const bool add = event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier);
    if (layer.valid()) {
        if (add) {
            std::vector<NodeId> nodes = m_document->selection();
            if (std::erase(nodes, layer) == 0) nodes.push_back(layer);
            const NodeId last = nodes.empty() ? NodeId() : nodes.back();
            m_document->select(std::move(nodes), last);
        } else {
            m_document->select(layer);
        }
        m_drag = Drag::None;
        return;
    }
    m_drag = add ? Drag::Band : Drag::Click;
    m_band = QRectF(m_pressed, m_pressed);
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
    const QPointF position = event->position();
    if (m_drag == Drag::Click &&
        (position - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
        m_drag = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    }
    if (m_drag == Drag::Pan) {
        m_transform.offset += position - m_last;
        m_last = position;
        viewMoved();
    } else if (m_drag == Drag::Band) {
        m_band = QRectF(m_pressed, position).normalized();
        update();
    } else {
        setHovered(boxAt(position));
        setCursor(m_scene.hovered && layerOf(*m_scene.hovered).valid() ? Qt::PointingHandCursor
                                                                       : Qt::ArrowCursor);
    }
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const Drag drag = std::exchange(m_drag, Drag::None);
    if (drag == Drag::Click && !choosingUntil()) m_document->select(NodeId());
    if (drag == Drag::Band) selectInBand(event->modifiers() & Qt::ControlModifier);
    if (drag == Drag::Pan) setCursor(Qt::ArrowCursor);
    update();
}

void GraphCanvas::selectInBand(bool add) {
    std::vector<NodeId> nodes;
    if (add) nodes = m_document->selection();
    for (const std::size_t box : m_index.nodesIn(m_transform.toScene(m_band))) {
        const NodeId layer = layerOf(box);
        if (layer.valid() && std::ranges::find(nodes, layer) == nodes.end()) nodes.push_back(layer);
    }
    const NodeId last = nodes.empty() ? NodeId() : nodes.back();
    m_document->select(std::move(nodes), last);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    const auto box = boxAt(event->position());
    if (box && event->button() == Qt::LeftButton && layerOf(*box).valid()) centerOn(layerOf(*box));
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(event->position(), std::pow(1.0015, event->angleDelta().y()));
    } else {
        QPointF step =
            event->pixelDelta().isNull() ? QPointF(event->angleDelta()) * 0.6 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier) step = step.transposed();
        m_transform.offset += step;
        viewMoved();
        setHovered(boxAt(event->position()));
    }
    event->accept();
}

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
            if (choosingUntil() && m_document->current().valid() && m_document->current() != m_untilFrom) {
                const NodeId from = m_untilFrom;
                cancelUntil();
                Q_EMIT untilChosen(from, m_document->current());
            } else {
                centerOn(m_document->current());
            }
            return;
        case Qt::Key_Escape:
            if (choosingUntil())
                cancelUntil();
            else
                event->ignore();
            return;
        default:
            if (walk(event->key())) return;
            QWidget::keyPressEvent(event);
    }
}

/// Down and up follow the edges, to the straightest one; left and right go to the nearest box beside.
std::optional<std::size_t> GraphCanvas::neighbour(std::size_t box, int key) const {
    const QRectF here = toRectF(m_picture->nodes[box].box);
    std::optional<std::size_t> best;
    double bestDistance = 0;
    const auto offer = [&](std::size_t other, double distance) {
        if (!layerOf(other).valid() || (best && distance >= bestDistance)) return;
        best = other;
        bestDistance = distance;
    };
    const auto sideways = [&](std::size_t other) {
        return std::abs(toRectF(m_picture->nodes[other].box).center().x() - here.center().x());
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
        QRectF strip(m_index.bounds().left(), here.top() - reach, m_index.bounds().width(),
                     here.height() + 2 * reach);
        for (const std::size_t other : m_index.nodesIn(strip)) {
            const QPointF there = toRectF(m_picture->nodes[other].box).center();
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
    NodeId next;
    if (key == Qt::Key_Home || !here)
        next = NodeId(0);
    else if (key == Qt::Key_End)
        next = NodeId(m_graph->nodeCount() - 1);
    else if (const auto box = neighbour(*here, key))
        next = layerOf(*box);
    if (next.valid()) {
        m_document->select(next);
        ensureVisible(next);
    }
    return true;
}

void GraphCanvas::startUntil(NodeId from) {
    m_untilFrom = from;
    previewUntil();
    Q_EMIT untilChanged();
    setFocus();
}

void GraphCanvas::cancelUntil() {
    if (!m_untilFrom.valid()) return;
    m_untilFrom = NodeId();
    m_scene.previewed.clear();
    update();
    Q_EMIT untilChanged();
}

void GraphCanvas::previewUntil() {
    m_scene.previewed.assign(m_picture->nodes.size(), false);
    const QString from = QString::fromStdString(m_graph->node(m_untilFrom).name);
    QString text = QStringLiteral("Skip from %1 until\u2026 click the last layer, Esc to give up").arg(from);
    const NodeId to = m_scene.hovered ? layerOf(*m_scene.hovered) : NodeId();
    if (to.valid() && to != m_untilFrom) {
        NodeSet covered = between(*m_graph, m_untilFrom, to);
        if (std::ranges::count(covered, true) == 0) covered = between(*m_graph, to, m_untilFrom);
        std::size_t nodes = 0, quantizable = 0;
        for (std::size_t i = 0; i < covered.size(); ++i) {
            if (!covered[i]) continue;
            ++nodes;
            const LayerResult* layer = m_document->layer(NodeId(i));
            if (layer && layer->quantizable) ++quantizable;
            if (const auto box = m_index.boxOf(NodeId(i))) m_scene.previewed[*box] = true;
        }
        text =
            nodes == 0
                ? QStringLiteral("No path between %1 and %2")
                      .arg(from, QString::fromStdString(m_graph->node(to).name))
                : QStringLiteral("Skip until %1: %2 nodes, %3 quantizable \u2014 click to keep them in float")
                      .arg(QString::fromStdString(m_graph->node(to).name))
                      .arg(nodes)
                      .arg(quantizable);
    }
    Q_EMIT untilPreviewed(text);
    update();
}

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Keyboard) {
        QPoint at = rect().center();
        if (const auto box = currentBox())
            at = m_transform.toView(toRectF(m_picture->nodes[*box].box).center()).toPoint();
        Q_EMIT menuRequested(mapToGlobal(at));
    } else {
        Q_EMIT menuRequested(event->globalPos());
    }
}

void GraphCanvas::leaveEvent(QEvent* event) {
    setHovered(std::nullopt);
    QWidget::leaveEvent(event);
}

void GraphCanvas::focusInEvent(QFocusEvent* event) {
    update();
    QWidget::focusInEvent(event);
}

void GraphCanvas::focusOutEvent(QFocusEvent* event) {
    update();
    QWidget::focusOutEvent(event);
}

}  // namespace quantloupe::ui
