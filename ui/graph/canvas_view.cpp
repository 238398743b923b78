// SPDX-License-Identifier: Apache-2.0
#include "graph/canvas_view.h"

#include <algorithm>
#include <cmath>

#include "graph/graph_painter.h"

namespace quantloupe::ui {

namespace {
constexpr double kFitMargin = 28;
constexpr double kWholeZoom = 0.3;  ///< a graph that only fits at a lower zoom starts at its input
constexpr double kRoomStep = 50;    ///< small changes of the window size must not change the layout
}  // namespace

CanvasView::CanvasView(Document* document, const ShownPicture* shown, bool follows, QWidget* widget)
    : QObject(widget), m_document(document), m_shown(shown), m_follows(follows), m_widget(widget) {}

QRectF CanvasView::area() const { return QRectF(m_widget->rect()); }

std::optional<std::size_t> CanvasView::currentBox() const { return m_shown->boxOf(m_document->current()); }

void CanvasView::prepareForPicture(bool sameGraph) {
    m_kept = sameGraph && !m_follows ? stillLayer() : NodeId();
    if (m_kept.valid()) m_keptPlace = placeOf(m_kept);
    m_still = NodeId();
}

void CanvasView::showPicture(bool sameGraph) {
    if (sameGraph && std::exchange(m_fitsNext, false)) {
        if (!m_follows) fitAll();
    } else if (m_kept.valid() && m_shown->boxOf(m_kept)) {
        m_transform.offset += m_keptPlace - placeOf(m_kept);
        keepInside();
    }
    if (*m_shown && !sameGraph) {
        m_fitsNext = false;
        if (!m_follows) showStart();
    }
}

/// Returns the position of a layer's box in the coordinates of the widget.
QPointF CanvasView::placeOf(NodeId layer) const {
    const QRectF box = m_shown->rectOf(*m_shown->boxOf(layer));
    return m_transform.toView(QPointF(box.center().x(), box.top()));
}

/// Returns the requested layer, or the current layer if it is visible, or the layer nearest to the middle.
NodeId CanvasView::stillLayer() const {
    if (m_still.valid() && m_shown->boxOf(m_still)) return m_still;
    const QRectF seen = visibleScene();
    if (const auto box = currentBox(); box && seen.intersects(m_shown->rectOf(*box)))
        return m_document->current();
    return layerNearest(seen.center());
}

/// Among the visible layers.
NodeId CanvasView::layerNearest(QPointF scene) const {
    NodeId nearest;
    double least = 0;
    for (const std::size_t i : m_shown->index().nodesIn(visibleScene())) {
        const QPointF away = m_shown->rectOf(i).center() - scene;
        const double distance = away.x() * away.x() + away.y() * away.y();
        const NodeId layer = m_shown->layerOf(i);
        if (!layer.valid() || (nearest.valid() && distance >= least)) continue;
        nearest = layer;
        least = distance;
    }
    return nearest;
}

std::optional<std::pair<NodeId, QPointF>> CanvasView::placeInSight() const {
    if (!*m_shown) return std::nullopt;
    const QPointF middle = visibleScene().center();
    const NodeId layer = layerNearest(middle);
    if (!layer.valid()) return std::nullopt;
    return std::pair(layer, middle - m_shown->rectOf(*m_shown->boxOf(layer)).center());
}

void CanvasView::showPlace(NodeId layer, QPointF aside, double zoom) {
    const auto box = m_shown->boxOf(layer);
    if (!box) return;
    m_transform.zoom = zoom;
    centerScene(m_shown->rectOf(*box).center() + aside);
}

std::optional<std::size_t> CanvasView::boxAt(QPointF view) const {
    if (!*m_shown) return std::nullopt;
    return m_shown->index().nodeAt(m_transform.toScene(view));
}

std::optional<std::size_t> CanvasView::frameNameAt(QPointF view) const {
    if (!*m_shown || m_transform.zoom < kTextZoom) return std::nullopt;
    const QPointF scene = m_transform.toScene(view);
    for (const PictureFrame& frame : m_shown->picture()->frames)
        if (frameNameRect(frame).contains(scene)) return frame.group;
    return std::nullopt;
}

QPoint CanvasView::currentPlace() const {
    const QRect all = m_widget->rect();
    if (const auto box = currentBox()) {
        const QPoint middle = m_transform.toView(m_shown->rectOf(*box).center()).toPoint();
        if (all.contains(middle)) return middle;
    }
    return all.center();
}

/// Shows the whole graph if boxes and colors can be distinguished; a larger graph starts at its input.
void CanvasView::showStart() {
    m_startPending = !m_widget->isVisible() || m_widget->width() < 50;
    if (m_startPending) return;
    const QRectF bounds = m_shown->index().bounds();
    const QRectF free = fitArea();
    m_transform.fit(bounds, free, 1);
    const bool whole = m_transform.zoom >= kWholeZoom;
    if (!whole && !m_shown->picture()->nodes.empty()) {
        m_transform.zoom = 1;
        const QRectF first = m_shown->rectOf(0);
        m_transform.center(first.center(), area());
        m_transform.offset.setY(m_margins.top() + m_widget->fontMetrics().height() * 0.5 - first.top());
        if (bounds.width() > free.width() && first.left() - bounds.left() < free.width() / 2)
            m_transform.offset.setX(free.left() - bounds.left());
    }
    finishMove();
    m_fit = whole ? std::optional(m_transform) : std::nullopt;
    m_start = m_transform;
}

void CanvasView::finishMove() {
    keepInside();
    Q_EMIT moved();
    Q_EMIT changed();
}

/// Keeps a part of the drawing visible.
void CanvasView::keepInside() {
    if (!*m_shown) return;
    const QRectF drawn = m_transform.toView(m_shown->index().bounds()), all = area();
    const double keepX = std::min(60.0, drawn.width()), keepY = std::min(60.0, drawn.height());
    double dx = 0, dy = 0;
    if (drawn.right() < keepX) dx = keepX - drawn.right();
    if (drawn.left() > all.width() - keepX) dx = all.width() - keepX - drawn.left();
    if (drawn.bottom() < keepY) dy = keepY - drawn.bottom();
    if (drawn.top() > all.height() - keepY) dy = all.height() - keepY - drawn.top();
    m_transform.offset += QPointF(dx, dy);
}

void CanvasView::setTransform(const ViewTransform& transform) {
    if (transform == m_transform) return;
    m_transform = transform;
    Q_EMIT changed();
}

void CanvasView::moveBy(QPointF step) {
    m_transform.offset += step;
    finishMove();
}

void CanvasView::zoomAt(QPointF view, double factor) {
    m_transform.zoomAt(view, factor);
    finishMove();
}

void CanvasView::zoomStep(double factor) {
    QPointF anchor = area().center();
    if (const auto box = currentBox()) {
        const QPointF middle = m_transform.toView(m_shown->rectOf(*box).center());
        if (area().contains(middle)) anchor = middle;
    }
    zoomAt(anchor, factor);
}

void CanvasView::actualSize() { zoomStep(1 / m_transform.zoom); }

/// Uses the area that is not covered by other widgets, if it is large enough.
QRectF CanvasView::fitArea() const {
    const QRectF all = area();
    const QRectF free = all.marginsRemoved(m_margins).adjusted(kFitMargin / 3, kFitMargin / 3,
                                                               -kFitMargin / 3, -kFitMargin / 3);
    if (free.width() > all.width() / 2 && free.height() > all.height() / 2) return free;
    return all.adjusted(kFitMargin, kFitMargin, -kFitMargin, -kFitMargin);
}

void CanvasView::fitAll() { fitWhole(1.5); }

/// `most`: the largest zoom.
void CanvasView::fitWhole(double most) {
    if (!*m_shown) return;
    m_transform.fit(m_shown->index().bounds(), fitArea(), most);
    finishMove();
    m_fit = m_transform;
}

void CanvasView::fitSelection() {
    QRectF selected;
    for (const NodeId node : m_document->selection())
        if (const auto box = m_shown->boxOf(node)) selected |= m_shown->rectOf(*box);
    if (selected.isEmpty()) return;
    const double margin = selected.height() > 0 ? 40 : 0;
    m_transform.fit(selected.adjusted(-margin, -margin, margin, margin), area(), 1.5);
    finishMove();
}

void CanvasView::centerScene(QPointF scene) {
    m_transform.center(scene, area());
    finishMove();
}

void CanvasView::centerOn(NodeId layer) {
    const auto box = m_shown->boxOf(layer);
    if (!box) return;
    if (m_transform.zoom < kTextZoom) m_transform.zoom = 1;
    centerScene(m_shown->rectOf(*box).center());
}

void CanvasView::ensureVisible(NodeId layer) {
    const auto box = m_shown->boxOf(layer);
    if (!box) return;
    const double margin = m_widget->fontMetrics().height() * 2;
    if (!area().adjusted(0, margin, 0, -margin).contains(m_transform.toView(m_shown->rectOf(*box))))
        centerOn(layer);
}

void CanvasView::arrange(Arrangement arrangement) {
    LayoutOptions options = m_document->layoutOptions();
    options.arrangement = arrangement;
    if (options == m_document->layoutOptions()) return fitAll();
    m_fitsNext = true;
    m_document->setLayoutOptions(options);
}

/// The layout depends on the space of the canvas.
void CanvasView::reportRoom() {
    const QSizeF room = fitArea().size();
    m_document->setLayoutRoom(std::round(room.width() / kRoomStep) * kRoomStep,
                              std::round(room.height() / kRoomStep) * kRoomStep);
}

void CanvasView::adaptToSize(QSize before) {
    if (m_follows) return;
    reportRoom();
    // Until it is moved, a view of the start shows the start.
    if (*m_shown && (m_startPending || m_start == m_transform)) return showStart();
    // A graph that is shown whole stays whole, for example when a dock appears.
    if (*m_shown && m_fit == m_transform) return fitWhole(std::max(1.0, m_transform.zoom));
    // Keeps the middle of the view in the middle.
    if (*m_shown && before.isValid())
        m_transform.offset += QPointF(m_widget->width() - before.width(), 0) / 2;
    finishMove();
}

}  // namespace quantloupe::ui
