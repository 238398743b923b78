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
#include "picture/picture_text.h"

namespace quantloupe::ui {

std::optional<std::size_t> GraphCanvas::boxAt(QPointF view) const {
    if (!m_picture) return std::nullopt;
    return m_index.nodeAt(m_transform.toScene(view));
}

NodeId GraphCanvas::layerOf(std::size_t box) const {
    return m_picture->nodes[box].layer;  // invalid for the graph's ends
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

/// With `add`, takes the box out again if all of it was selected.
void GraphCanvas::selectBox(std::size_t box, bool add) {
    const std::vector<NodeId> layers = layersOf(box);
    if (!add) {
        m_document->select(layers, layers.front());
        return;
    }
    std::vector<NodeId> nodes = m_document->selection();
    const bool all = std::ranges::all_of(layers, [this](NodeId layer) { return m_document->isSelected(layer); });
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

void GraphCanvas::showToolTip(QPoint position, QPoint global) {
    const auto box = boxAt(position);
    if (!box) {
        QToolTip::hideText();
        return;
    }
    const PictureNode& node = m_picture->nodes[*box];
    QString text;
    if (node.kind == PictureNode::Kind::Group) {
        text = groupHint(node);
    } else if (const NodeId id = layerOf(*box); id.valid()) {
        text =
            QStringLiteral("<b>%1</b>").arg(QString::fromStdString(m_graph->node(id).name).toHtmlEscaped());
        text += QStringLiteral("<br>") + QString::fromStdString(node.title).toHtmlEscaped();
        if (const LayerResult* layer = m_document->layer(id)) {
            text += QStringLiteral(" \u00b7 ") + stateText(layer->state);
            if (!layer->reason.empty())
                text += QStringLiteral("<br>") + QString::fromStdString(layer->reason).toHtmlEscaped();
            if (layer->local) {
                text += tr("<br>QS local ") + formatQs(layer->local->qs);
                if (layer->state == LayerState::Skipped) text += tr(" if it were quantized");
            }
            if (layer->cumulative) text += tr("<br>QS cumulative ") + formatQs(layer->cumulative->qs);
            text += overlayHint(id);
        }
    } else {
        text = QStringLiteral("<b>%1</b><br>%2")
                   .arg(QString::fromStdString(node.title).toHtmlEscaped(),
                        QString::fromStdString(node.subtitle).toHtmlEscaped());
    }
    QToolTip::showText(global, text, this);
}

QString GraphCanvas::groupHint(const PictureNode& node) const {
    const Group& group = m_picture->groups[node.group];
    QString text = QStringLiteral("<b>%1</b><br>%2")
                       .arg(QString::fromStdString(group.name).toHtmlEscaped(), QString::fromStdString(node.subtitle));
    std::map<LayerState, int> counts;
    for (const NodeId id : group.nodes)
        if (const LayerResult* layer = m_document->layer(id)) ++counts[layer->state];
    QStringList words;
    for (const auto& [state, count] : counts) words.append(QStringLiteral("%1 %2").arg(count).arg(stateText(state)));
    if (!words.isEmpty()) text += QStringLiteral("<br>") + words.join(QStringLiteral(", "));
    if (m_metric != Metric::None) {
        const NodeId worst = worstOf(group, m_overlay);
        text += worst.valid()
                    ? tr("<br>Worst %1: %2, %3")
                          .arg(metricName(m_metric), formatMetric(*m_overlay.valueOf(worst), m_metric),
                               QString::fromStdString(m_graph->node(worst).name).toHtmlEscaped())
                    : tr("<br>%1: no layer in it has a value").arg(metricName(m_metric));
    }
    return text + tr("<br><i>Double click opens it</i>");
}

/// The line of the metric that is shown, if the hint has not told it yet.
QString GraphCanvas::overlayHint(NodeId id) const {
    if (m_metric == Metric::None) return {};
    const QString name = QStringLiteral("<br>%1: ").arg(metricName(m_metric));
    const auto value = m_overlay.valueOf(id);
    if (!value) {
        const QString why = whyNoValue(*m_document, m_reference, id, m_metric);
        return name + tr("no value") +
               (why.isEmpty() ? QString() : QStringLiteral(", ") + why.toHtmlEscaped());
    }
    if (m_metric == Metric::LocalQs || m_metric == Metric::CumulativeQs) return {};
    if (m_metric == Metric::Difference)
        return tr("<br>Cumulative QS %1 to %2").arg(formatMetric(*value, m_metric), m_reference.name());
    return name + (m_metric == Metric::Bits ? formatBits(*m_document->layer(id)) : formatMetric(*value, m_metric));
}

void GraphCanvas::setHovered(std::optional<std::size_t> box) {
    if (m_scene.hovered == box) return;
    m_scene.hovered = box;
    if (choosingUntil()) previewUntil();
    sceneChanged();
}

/// The graph has moved under a mouse that stands still.
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
    if (choosingUntil() && layer.valid()) {
        const NodeId from = m_untilFrom, to = endOf(*box);
        cancelUntil();
        if (to != from) Q_EMIT untilChosen(from, to);
        return;
    }
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

/// Both ends included, whichever comes first; where no path leads the layer is added alone. The current layer stays, so
/// that another click takes another path from it.
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
    if (drag == Drag::Click && !choosingUntil()) m_document->select(NodeId());
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
    std::optional<std::size_t> next;
    if (key == Qt::Key_Home || !here)
        next = m_index.boxOf(NodeId(0));
    else if (key == Qt::Key_End)
        next = m_index.boxOf(NodeId(m_graph->nodeCount() - 1));
    else
        next = neighbour(*here, key);
    if (next) {
        m_pointer.reset();
        setHovered(std::nullopt);
        selectBox(*next, false);
        ensureVisible(layerOf(*next));
        if (choosingUntil()) previewUntil();
    }
    return true;
}

void GraphCanvas::startUntil(NodeId from) {
    m_untilFrom = from;
    previewUntil();
    setFocus();
}

void GraphCanvas::cancelUntil() {
    if (!m_untilFrom.valid()) return;
    m_untilFrom = NodeId();
    clearPreview();
}

void GraphCanvas::setPreview(NodeSet covered, const QString& words) {
    m_previewed = std::move(covered);
    m_previewText = words;
    markPreviewed();
    Q_EMIT previewChanged();
}

void GraphCanvas::clearPreview() {
    if (m_previewed.empty() && m_previewText.isEmpty()) return;
    setPreview({}, {});
}

void GraphCanvas::markPreviewed() {
    m_scene.previewed.assign(m_picture ? m_picture->nodes.size() : 0, false);
    for (std::size_t i = 0; i < m_previewed.size(); ++i)
        if (m_previewed[i])
            if (const auto box = m_index.boxOf(NodeId(i))) m_scene.previewed[*box] = true;
    sceneChanged();
}

void GraphCanvas::previewUntil() {
    const auto shortName = [this](NodeId id) { return QString::fromStdString(layerSubtitle(m_graph->node(id), 32)); };
    const QString from = shortName(m_untilFrom);
    // The keyboard chooses with the arrows: the current layer is its cursor.
    NodeId to = m_scene.hovered ? endOf(*m_scene.hovered) : NodeId();
    if (!m_scene.hovered) to = m_document->current();
    if (!to.valid() || to == m_untilFrom) {
        setPreview({}, tr("Skip from %1 until\u2026 click the last layer, Esc to give up").arg(from));
        return;
    }
    // In a narrow window the name gives way, not what is said of it.
    const int room = width() / std::max(1, fontMetrics().averageCharWidth()) - 78;
    const QString end = QString::fromStdString(layerSubtitle(m_graph->node(to), static_cast<std::size_t>(std::clamp(room, 12, 32))));
    const ConfigEdit edit = skipUntil(*m_graph, m_document->config(), m_untilFrom, to);
    if (!edit.complaint.isEmpty()) {
        setPreview({}, edit.complaint);
        return;
    }
    const RulePreview preview =
        previewRule(*m_graph, m_document->config(), m_document->layers(), edit.next.rules.back());
    setPreview(preview.covered,
               tr("Skip until %1: %2 \u2014 click or Enter").arg(end, previewWords(preview)));
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
