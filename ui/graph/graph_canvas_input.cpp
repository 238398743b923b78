// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel and pinch on the canvas.
#include <QApplication>
#include <QContextMenuEvent>
#include <QGestureEvent>
#include <QHelpEvent>
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
    return m_picture->nodes[box].layer;  // invalid for graph inputs and outputs
}

NodeId GraphCanvas::endOf(std::size_t box) const {
    const PictureNode& node = m_picture->nodes[box];
    return node.kind == PictureNode::Kind::Group ? m_picture->groups[node.group].nodes.back() : node.layer;
}

std::vector<NodeId> GraphCanvas::layersOf(std::size_t box) const {
    const PictureNode& node = m_picture->nodes[box];
    if (node.kind == PictureNode::Kind::Group) return m_picture->groups[node.group].nodes;
    return node.layer.valid() ? std::vector{node.layer} : std::vector<NodeId>{};
}

std::optional<std::size_t> GraphCanvas::frameNameAt(QPointF view) const {
    if (!m_picture || m_transform.zoom < kTextZoom) return std::nullopt;
    const QPointF scene = m_transform.toScene(view);
    for (const PictureFrame& frame : m_picture->frames)
        if (frameNameRect(frame).contains(scene)) return frame.group;
    return std::nullopt;
}

/// With `add`, deselects the box if all of its layers were selected.
void GraphCanvas::selectBox(std::size_t box, bool add) {
    const std::vector<NodeId> layers = layersOf(box);
    if (!add) {
        m_document->select(layers, layers.front());
        return;
    }
    std::vector<NodeId> nodes = m_document->selection();
    const bool all =
        std::ranges::all_of(layers, [this](NodeId layer) { return m_document->isSelected(layer); });
    std::erase_if(nodes, [&](NodeId node) { return std::ranges::find(layers, node) != layers.end(); });
    if (!all) nodes.insert(nodes.end(), layers.begin(), layers.end());
    const NodeId last = nodes.empty() ? NodeId() : nodes.back();
    m_document->select(std::move(nodes), last);
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

void GraphCanvas::setHovered(std::optional<std::size_t> box) {
    if (m_scene.hovered == box) return;
    m_scene.hovered = box;
    if (choosingUntil()) previewUntil();
    sceneChanged();
    Q_EMIT hovered(box);
}

/// The graph has moved under the mouse.
void GraphCanvas::hoverAnew() {
    if (m_pointer) setHovered(boxAt(*m_pointer));
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
    if (layer.valid() && chooser()->endUntil(*box, event->modifiers() & Qt::ControlModifier)) return;
    const bool add = event->modifiers() & Qt::ControlModifier;
    const bool path = event->modifiers() & Qt::ShiftModifier;
    if (layer.valid()) {
        if (path && !add && m_document->current().valid())
            selectPathTo(*box);
        else
            selectBox(*box, add);
        m_drag = Drag::None;
        return;
    }
    m_drag = add || path ? Drag::Band : Drag::Click;
    m_band = QRectF(m_pressed, m_pressed);
}

/// Selects the layers between the two, in either order, including both ends. If there is no path, only the
/// layer is added. The current layer does not change, so that another click selects another path from it.
void GraphCanvas::selectPathTo(std::size_t box) {
    const NodeId from = m_document->current();
    NodeSet covered = between(*m_graph, from, endOf(box));
    if (std::ranges::count(covered, true) == 0) covered = between(*m_graph, layerOf(box), from);
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < covered.size(); ++i)
        if (covered[i]) nodes.push_back(NodeId(i));
    if (nodes.empty()) {
        nodes = m_document->selection();
        for (const NodeId layer : layersOf(box))
            if (!m_document->isSelected(layer)) nodes.push_back(layer);
    }
    m_document->select(std::move(nodes), from);
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
    const QPointF position = event->position();
    m_pointer = position;
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
    if (drag == Drag::Click && !chooser()->choosingUntil()) m_document->select(NodeId());
    if (drag == Drag::Band) selectInBand(event->modifiers() & Qt::ControlModifier);
    if (drag == Drag::Pan) setCursor(Qt::ArrowCursor);
    update();
}

void GraphCanvas::selectInBand(bool add) {
    std::vector<NodeId> nodes;
    if (add) nodes = m_document->selection();
    for (const std::size_t box : m_index.nodesIn(m_transform.toScene(m_band)))
        for (const NodeId layer : layersOf(box))
            if (!add || !m_document->isSelected(layer)) nodes.push_back(layer);
    const NodeId last = nodes.empty() ? NodeId() : nodes.back();
    m_document->select(std::move(nodes), last);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto box = boxAt(event->position());
    if (!box) {
        if (const auto group = frameNameAt(event->position())) Q_EMIT foldRequested(*group, true);
    } else if (m_picture->nodes[*box].kind == PictureNode::Kind::Group) {
        Q_EMIT foldRequested(m_picture->nodes[*box].group, false);
    } else if (layerOf(*box).valid()) {
        centerOn(layerOf(*box));
    }
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
    m_pointer = event->position();
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(event->position(), std::pow(1.0015, event->angleDelta().y()));
    } else {
        QPointF step =
            event->pixelDelta().isNull() ? QPointF(event->angleDelta()) * 0.6 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier) step = step.transposed();
        m_transform.offset += step;
        viewMoved();
    }
    event->accept();
}

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) {
    Q_EMIT menuRequested(event->reason() == QContextMenuEvent::Keyboard ? menuPlace() : event->globalPos());
}

QPoint GraphCanvas::menuPlace() const {
    QPoint at = rect().center();
    if (const auto box = currentBox()) {
        const QPoint middle = m_transform.toView(toRectF(m_picture->nodes[*box].box).center()).toPoint();
        if (rect().contains(middle)) at = middle;
    }
    return mapToGlobal(at);
}

void GraphCanvas::leaveEvent(QEvent* event) {
    m_pointer.reset();
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
