// SPDX-License-Identifier: Apache-2.0 The canvas: its contents and their position. graph_canvas_input.cpp
// handles the mouse, graph_canvas_keys.cpp the keyboard.
#include "graph/graph_canvas.h"

#include <QApplication>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/box_face.h"
#include "graph/painted_view.h"

namespace quantloupe::ui {

namespace {
constexpr double kFitMargin = 28;
constexpr double kWholeZoom = 0.3;  ///< a graph that only fits at a lower zoom starts at its input
}  // namespace

GraphCanvas::GraphCanvas(Document* document, QWidget* parent) : GraphCanvas(document, nullptr, parent) {}

GraphCanvas::GraphCanvas(GraphCanvas* leader, QWidget* parent)
    : GraphCanvas(leader->m_document, leader, parent) {
    setAccessibleName(tr("Graph of the compared configuration"));
    setPicture(leader->m_picture);
    m_transform = leader->m_transform;
    connect(leader, &GraphCanvas::looksChanged, this, &GraphCanvas::updateLooks);
}

GraphCanvas::GraphCanvas(Document* document, GraphCanvas* leader, QWidget* parent)
    : QWidget(parent), m_document(document), m_leader(leader) {
    m_cache = std::make_unique<PaintCache>();
    m_painted = std::make_unique<PaintedView>();
    m_scales = new ScaleTexts(document, this);
    connect(m_scales, &ScaleTexts::changed, this, &GraphCanvas::sceneChanged);
    m_scene.details = [this](std::size_t box) { return detailsOf(box); };
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    grabGesture(Qt::PinchGesture);
    setMinimumSize(fontMetrics().averageCharWidth() * 20, fontMetrics().height() * 6);
    setAccessibleName(tr("Graph"));
    connect(document, &Document::pictureChanged, this, [this] { setPicture(m_document->picture()); });
    connect(document, &Document::modelChanged, this, [this] { setPicture(nullptr); });
    connect(document, &Document::selectionChanged, this, &GraphCanvas::updateSelection);
    connect(&document->reference(), &LayerReference::changed, this, [this] {
        if (m_leader || m_metric == Metric::Difference) updateLooks();
    });
    if (m_leader) return;
    connect(document, &Document::layersChanged, this, &GraphCanvas::updateLooks);
    connect(document, &Document::evaluationChanged, this, [this] {
        if (m_scene.faded != m_document->metricsStale() ||
            m_measuring != (m_document->evaluating() && !m_overlay.scale.any))
            updateLooks();
    });
}

GraphCanvas::~GraphCanvas() = default;

void GraphCanvas::setPicture(PicturePtr picture) {
    const GraphPtr graph = m_document->graph();
    const bool sameGraph = picture && m_picture && graph == m_graph;
    // Keeps the position of the visible part.
    const NodeId still = sameGraph && !m_leader ? stillLayer() : NodeId();
    const auto place = [this](NodeId layer) {
        const QRectF box = toRectF(m_picture->nodes[*m_index.boxOf(layer)].box);
        return m_transform.toView(QPointF(box.center().x(), box.top()));
    };
    const QPointF before = still.valid() ? place(still) : QPointF();
    m_still = NodeId();
    m_picture = std::move(picture);
    m_index = m_picture ? PictureIndex(*m_picture) : PictureIndex();
    m_scene.hovered.reset();
    m_scene.picture = m_picture.get();
    m_scene.index = &m_index;
    m_scene.looks = &m_looks;
    if (!sameGraph) {
        m_untilFrom = NodeId();
        clearPreview();
    }
    updateLooks();
    updateSelection();
    markPreviewed();
    if (sameGraph && std::exchange(m_fitsNext, false)) {
        if (!m_leader) fitAll();
    } else if (still.valid() && m_index.boxOf(still)) {
        m_transform.offset += before - place(still);
        keepInside();
    }
    if (m_picture && !sameGraph) {
        m_graph = graph;
        m_fitsNext = false;
        if (!m_leader) resetView();
    }
    hoverAnew();
    sceneChanged();
    Q_EMIT viewChanged();
}

void GraphCanvas::sceneChanged() {
    m_painted->forget();
    update();
}

void GraphCanvas::holdStill(NodeId layer) { m_still = layer; }

/// Returns the requested layer, or the current layer if it is visible, or the layer nearest to the middle.
NodeId GraphCanvas::stillLayer() const {
    if (m_still.valid() && m_index.boxOf(m_still)) return m_still;
    const QRectF seen = visibleScene();
    if (const auto box = currentBox(); box && seen.intersects(toRectF(m_picture->nodes[*box].box)))
        return m_document->current();
    return layerNearest(seen.center());
}

/// Among the visible layers.
NodeId GraphCanvas::layerNearest(QPointF scene) const {
    NodeId nearest;
    double least = 0;
    for (const std::size_t i : m_index.nodesIn(visibleScene())) {
        const QPointF away = toRectF(m_picture->nodes[i].box).center() - scene;
        const double distance = away.x() * away.x() + away.y() * away.y();
        if (!layerOf(i).valid() || (nearest.valid() && distance >= least)) continue;
        nearest = layerOf(i);
        least = distance;
    }
    return nearest;
}

std::optional<std::pair<NodeId, QPointF>> GraphCanvas::placeInSight() const {
    if (!m_picture) return std::nullopt;
    const QPointF middle = visibleScene().center();
    const NodeId layer = layerNearest(middle);
    if (!layer.valid()) return std::nullopt;
    return std::pair(layer, middle - toRectF(m_picture->nodes[*m_index.boxOf(layer)].box).center());
}

void GraphCanvas::showPlace(NodeId layer, QPointF aside, double zoom) {
    const auto box = m_index.boxOf(layer);
    if (!box) return;
    m_transform.zoom = zoom;
    centerScene(toRectF(m_picture->nodes[*box].box).center() + aside);
}

void GraphCanvas::setMetric(Metric metric) {
    if (metric == m_metric) return;
    m_metric = metric;
    updateLooks();
    Q_EMIT metricChanged(metric);
}

void GraphCanvas::setScaleChoice(const ScaleChoice& choice) {
    if (choice == scaleChoice()) return;
    m_scaleChoices[m_metric] = choice;
    updateLooks();
}

ScaleChoice GraphCanvas::scaleChoice() const {
    const auto known = m_scaleChoices.find(m_metric);
    return known == m_scaleChoices.end() ? ScaleChoice{} : known->second;
}

const std::vector<LayerResult>* GraphCanvas::layers() const {
    return m_leader ? m_document->reference().layers() : &m_document->layers();
}

const LayerResult* GraphCanvas::layerResult(NodeId id) const {
    return m_leader ? m_document->reference().layer(id) : m_document->layer(id);
}

void GraphCanvas::updateLooks() {
    static const std::vector<LayerResult> none;
    const std::vector<LayerResult>& shown = layers() ? *layers() : none;
    ScaleChoice choice = scaleChoice();
    if (m_leader) {
        // The same color means the same value on both sides. Differences are only shown on the side of the
        // current configuration.
        m_metric = m_leader->metric() == Metric::Difference ? Metric::None : m_leader->metric();
        const MetricScale& scale = m_leader->scale();
        if (scale.any) choice = {scale.best, scale.worst, scale.logarithmic};
    } else {
        m_scene.faded = m_document->metricsStale();
    }
    m_overlay = overlayOf(*m_document, shown, m_metric, choice);
    m_measuring = m_document->evaluating() && !m_overlay.scale.any;
    m_looks.clear();
    if (m_picture && m_document->graph())
        m_looks = looksOf(*m_picture, shown, *m_document->graph(), m_overlay, themeOf(palette()));
    const NodeSet& dimmed = chooser()->m_dimmed;
    const auto isDimmed = [&](NodeId id) { return id.index() < dimmed.size() && dimmed[id.index()]; };
    for (std::size_t i = 0; i < m_looks.size() && !dimmed.empty(); ++i)
        if (const auto here = layersOf(i); !here.empty() && std::ranges::all_of(here, isDimmed))
            dim(m_looks[i], themeOf(palette()));
    sceneChanged();
    Q_EMIT looksChanged();
}

void GraphCanvas::setDimmed(NodeSet layers) {
    m_dimmed = std::move(layers);
    updateLooks();
}

void GraphCanvas::updateSelection() {
    m_scene.selected.assign(m_picture ? m_picture->nodes.size() : 0, false);
    for (const NodeId node : m_document->selection())
        if (const auto box = m_index.boxOf(node)) m_scene.selected[*box] = true;
    m_scene.current = currentBox();
    sceneChanged();
}

void GraphCanvas::resetView() {
    if (!isVisible() || width() < 50) {
        m_viewPending = true;
        return;
    }
    m_viewPending = false;
    // The whole graph is shown if boxes and colors can be distinguished; a larger graph starts at its input.
    const QRectF bounds = m_index.bounds();
    const QRectF area = fitArea();
    m_transform.fit(bounds, area, 1);
    const bool whole = m_transform.zoom >= kWholeZoom;
    if (!whole && !m_picture->nodes.empty()) {
        m_transform.zoom = 1;
        const QRectF first = toRectF(m_picture->nodes.front().box);
        m_transform.center(first.center(), QRectF(rect()));
        m_transform.offset.setY(m_margins.top() + fontMetrics().height() * 0.5 - first.top());
        if (bounds.width() > area.width() && first.left() - bounds.left() < area.width() / 2)
            m_transform.offset.setX(area.left() - bounds.left());
    }
    viewMoved();
    m_fit = whole ? std::optional(m_transform) : std::nullopt;
}

void GraphCanvas::viewMoved() {
    keepInside();
    wantScales();
    if (m_drag == Drag::None) hoverAnew();
    update();
    Q_EMIT viewChanged();
}

/// The session has the current configuration and does not know the scales of the reference.
void GraphCanvas::wantScales() {
    if (!m_leader) m_scales->setWanted(m_transform.zoom >= kDetailZoom);
}

/// Keeps a part of the drawing visible.
void GraphCanvas::keepInside() {
    if (!m_picture) return;
    const QRectF drawn = m_transform.toView(m_index.bounds());
    const double keepX = std::min(60.0, drawn.width()), keepY = std::min(60.0, drawn.height());
    double dx = 0, dy = 0;
    if (drawn.right() < keepX) dx = keepX - drawn.right();
    if (drawn.left() > width() - keepX) dx = width() - keepX - drawn.left();
    if (drawn.bottom() < keepY) dy = keepY - drawn.bottom();
    if (drawn.top() > height() - keepY) dy = height() - keepY - drawn.top();
    m_transform.offset += QPointF(dx, dy);
}

void GraphCanvas::setTransform(const ViewTransform& transform) {
    if (transform == m_transform) return;
    m_transform = transform;
    wantScales();
    update();
    Q_EMIT viewChanged();
}

void GraphCanvas::zoomAt(QPointF view, double factor) {
    m_transform.zoomAt(view, factor);
    viewMoved();
}

void GraphCanvas::zoomStep(double factor) {
    QPointF anchor = QRectF(rect()).center();
    if (const auto box = currentBox()) {
        const QPointF middle = m_transform.toView(toRectF(m_picture->nodes[*box].box).center());
        if (QRectF(rect()).contains(middle)) anchor = middle;
    }
    zoomAt(anchor, factor);
}

/// Uses the area that is not covered by other widgets, if it is large enough.
QRectF GraphCanvas::fitArea() const {
    const QRectF all = QRectF(rect());
    const QRectF free = all.marginsRemoved(m_margins).adjusted(kFitMargin / 3, kFitMargin / 3,
                                                               -kFitMargin / 3, -kFitMargin / 3);
    if (free.width() > all.width() / 2 && free.height() > all.height() / 2) return free;
    return all.adjusted(kFitMargin, kFitMargin, -kFitMargin, -kFitMargin);
}

void GraphCanvas::fitAll() { fitWhole(1.5); }

void GraphCanvas::fitWhole(double most) {
    if (!m_picture) return;
    m_transform.fit(m_index.bounds(), fitArea(), most);
    viewMoved();
    m_fit = m_transform;
}

void GraphCanvas::fitSelection() {
    QRectF area;
    for (const NodeId node : m_document->selection())
        if (const auto box = m_index.boxOf(node)) area |= toRectF(m_picture->nodes[*box].box);
    if (area.isEmpty()) return;
    const double margin = area.height() > 0 ? 40 : 0;
    m_transform.fit(area.adjusted(-margin, -margin, margin, margin), QRectF(rect()), 1.5);
    viewMoved();
}

void GraphCanvas::actualSize() { zoomStep(1 / m_transform.zoom); }

void GraphCanvas::centerScene(QPointF scene) {
    m_transform.center(scene, QRectF(rect()));
    viewMoved();
}

void GraphCanvas::centerOn(NodeId layer) {
    const auto box = m_index.boxOf(layer);
    if (!box) return;
    if (m_transform.zoom < kTextZoom) m_transform.zoom = 1;
    centerScene(toRectF(m_picture->nodes[*box].box).center());
}

void GraphCanvas::ensureVisible(NodeId layer) {
    const auto box = m_index.boxOf(layer);
    if (!box) return;
    const QRectF shown = m_transform.toView(toRectF(m_picture->nodes[*box].box));
    const double margin = fontMetrics().height() * 2;
    if (!QRectF(rect()).adjusted(0, margin, 0, -margin).contains(shown)) centerOn(layer);
}

void GraphCanvas::paintNothing(QPainter& painter) {
    if (!m_document->hasModel()) return;
    const int unit = fontMetrics().height();
    const QString text = m_picture ? tr("Nothing to compare with: %1.").arg(reference().whyNone())
                                   : tr("Laying out the graph\u2026");
    painter.drawText(rect().adjusted(unit, unit, -unit, -unit), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void GraphCanvas::paintEvent(QPaintEvent* event) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    if (!m_picture || !layers()) {
        painter.fillRect(event->rect(), colors.canvas);
        painter.setPen(colors.muted);
        paintNothing(painter);
        return;
    }
    m_scene.theme = &colors;
    m_scene.font = font();
    m_scene.cache = m_cache.get();
    const QImage& frame = m_painted->frame(m_scene, m_transform, size(), devicePixelRatioF(), colors.canvas);
    painter.drawImage(0, 0, frame);
    if (m_drag == Drag::Band) {
        QColor fill = colors.accent;
        fill.setAlpha(30);
        painter.setPen(QPen(colors.accent, 1, Qt::DashLine));
        painter.setBrush(fill);
        painter.drawRect(m_band);
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(colors.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
    if (m_leader) return;  // the leader sets the position
    tellRoom();
    if (m_viewPending && m_picture) {
        resetView();
        return;
    }
    // A graph that is shown whole stays whole, for example when a dock appears.
    if (m_picture && m_fit == m_transform) return fitWhole(std::max(1.0, m_transform.zoom));
    // What was in the middle stays there.
    if (m_picture && event->oldSize().isValid())
        m_transform.offset += QPointF(event->size().width() - event->oldSize().width(), 0) / 2;
    viewMoved();
}

void GraphCanvas::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) updateLooks();
    if (event->type() == QEvent::FontChange) {
        m_painted->forget();
        changeFont();
    }
    QWidget::changeEvent(event);
}

}  // namespace quantloupe::ui
