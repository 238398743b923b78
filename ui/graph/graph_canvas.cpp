// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_canvas.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/box_face.h"
#include "graph/canvas_input.h"
#include "graph/painted_view.h"

namespace quantloupe::ui {

GraphCanvas::GraphCanvas(Document* document, QWidget* parent) : GraphCanvas(document, nullptr, parent) {}

GraphCanvas::GraphCanvas(GraphCanvas* leader, QWidget* parent)
    : GraphCanvas(leader->m_document, leader, parent) {
    setAccessibleName(tr("Graph of the compared configuration"));
    setPicture(leader->m_shown.picture());
    m_view->setTransform(leader->transform());
    connect(leader, &GraphCanvas::looksChanged, this, &GraphCanvas::updateLooks);
}

GraphCanvas::GraphCanvas(Document* document, GraphCanvas* leader, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_leader(leader),
      m_view(new CanvasView(document, &m_shown, leader != nullptr, this)),
      m_selection(document, &m_shown),
      m_until(leader ? leader->m_until : new UntilChoice(document, this)),
      m_input(new CanvasInput(document, &m_shown, m_view, &m_selection, m_until, this)),
      m_scales(new ScaleTexts(document, this)),
      m_hints(document, this, m_scales),
      m_cache(std::make_unique<PaintCache>()),
      m_painted(std::make_unique<PaintedView>()) {
    m_scene.details = [this](std::size_t box) { return m_hints.details(box); };
    m_scene.index = &m_shown.index();
    m_scene.looks = &m_looks;
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    grabGesture(Qt::PinchGesture);
    setMinimumSize(fontMetrics().averageCharWidth() * 20, fontMetrics().height() * 6);
    setAccessibleName(tr("Graph"));
    connectParts();
    followDocument();
}

GraphCanvas::~GraphCanvas() = default;

void GraphCanvas::connectParts() {
    connect(m_scales, &ScaleTexts::changed, this, &GraphCanvas::sceneChanged);
    connect(m_view, &CanvasView::changed, this, [this] {
        wantScales();
        update();
        Q_EMIT viewChanged();
    });
    connect(m_input, &CanvasInput::hovered, this, &GraphCanvas::setHovered);
    connect(m_input, &CanvasInput::bandChanged, this, qOverload<>(&QWidget::update));
    connect(m_input, &CanvasInput::toggleRequested, this, &GraphCanvas::toggleRequested);
    connect(m_input, &CanvasInput::menuRequested, this, &GraphCanvas::menuRequested);
    connect(m_input, &CanvasInput::foldRequested, this, &GraphCanvas::foldRequested);
}

void GraphCanvas::followDocument() {
    connect(m_document, &Document::pictureChanged, this, [this] { setPicture(m_document->picture()); });
    connect(m_document, &Document::modelChanged, this, [this] {
        const LoadedModel* model = m_document->model();
        const std::filesystem::path path = model ? model->path : std::filesystem::path();
        if (std::exchange(m_scaledModel, path) != path) m_scaleChoices.clear();  // other layers, other values
        setPicture(nullptr);
    });
    connect(m_document, &Document::selectionChanged, this, &GraphCanvas::updateSelection);
    connect(&m_document->reference(), &LayerReference::changed, this, [this] {
        if (m_leader || m_metric == Metric::Difference) updateLooks();
    });
    if (m_leader) return;
    connect(m_document, &Document::layersChanged, this, &GraphCanvas::updateLooks);
    connect(m_document, &Document::evaluationChanged, this, [this] {
        if (m_scene.faded != m_document->metricsStale() ||
            m_measuring != (m_document->evaluating() && !m_overlay.scale.any))
            updateLooks();
    });
}

void GraphCanvas::setPicture(PicturePtr picture) {
    const GraphPtr graph = m_document->graph();
    const bool sameGraph = picture && m_shown && graph == m_shown.graph();
    m_view->prepareForPicture(sameGraph);
    m_shown.setPicture(std::move(picture));
    m_scene.hovered.reset();
    m_scene.picture = m_shown.picture().get();
    if (!sameGraph) {
        if (!m_leader) m_until->cancel();
        clearPreview();
    }
    updateLooks();
    updateSelection();
    markPreviewed();
    if (m_shown && !sameGraph) m_shown.setGraph(graph);
    m_view->showPicture(sameGraph);
    m_input->hoverAgain();
    sceneChanged();
    Q_EMIT viewChanged();
}

void GraphCanvas::sceneChanged() {
    m_painted->forget();
    update();
}

void GraphCanvas::setHovered(std::optional<std::size_t> box) {
    if (m_scene.hovered == box) return;
    m_scene.hovered = box;
    if (!m_leader && m_until->active()) m_until->preview();
    sceneChanged();
    Q_EMIT hovered(box);
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
    const std::vector<LayerResult>& results = layers() ? *layers() : none;
    if (m_leader)
        // Differences are only shown on the side of the current configuration.
        m_metric = m_leader->metric() == Metric::Difference ? Metric::None : m_leader->metric();
    else
        m_scene.faded = m_document->metricsStale();
    m_overlay = overlayOf(*m_document, results, m_metric, scaleChoice());
    // The same color means the same value on both sides, even if the scale goes beyond the values of this
    // one.
    if (m_leader && m_leader->metric() == m_metric && m_leader->scale().any) {
        const bool any = m_overlay.scale.any;
        m_overlay.scale = m_leader->scale();
        m_overlay.scale.any = any;
    }
    m_measuring = m_document->evaluating() && !m_overlay.scale.any;
    m_looks.clear();
    if (m_shown && m_document->graph())
        m_looks = looksOf(*picture(), results, *m_document->graph(), m_overlay, themeOf(palette()));
    const NodeSet& dimmed = m_leader ? m_leader->m_dimmed : m_dimmed;
    const auto isDimmed = [&](NodeId id) { return id.index() < dimmed.size() && dimmed[id.index()]; };
    for (std::size_t i = 0; i < m_looks.size() && !dimmed.empty(); ++i)
        if (const auto here = m_shown.layersOf(i); !here.empty() && std::ranges::all_of(here, isDimmed))
            dim(m_looks[i], themeOf(palette()));
    sceneChanged();
    Q_EMIT looksChanged();
}

void GraphCanvas::setDimmed(NodeSet layers) {
    m_dimmed = std::move(layers);
    updateLooks();
}

void GraphCanvas::updateSelection() {
    m_scene.selected.assign(m_shown ? picture()->nodes.size() : 0, false);
    for (const NodeId node : m_document->selection())
        if (const auto box = m_shown.boxOf(node)) m_scene.selected[*box] = true;
    m_scene.current = m_shown.boxOf(m_document->current());
    sceneChanged();
}

void GraphCanvas::setPreview(NodeSet covered, const QString& words, bool rule) {
    m_previewed = std::move(covered);
    m_previewIsRule = rule;
    m_previewText = m_document->withLayerNames(words);
    markPreviewed();
    Q_EMIT previewChanged();
}

void GraphCanvas::clearPreview() {
    if (m_previewed.empty() && m_previewText.isEmpty()) return;
    setPreview({}, {});
}

void GraphCanvas::markPreviewed() {
    m_scene.previewed.assign(m_shown ? picture()->nodes.size() : 0, false);
    for (std::size_t i = 0; i < m_previewed.size(); ++i)
        if (m_previewed[i])
            if (const auto box = m_shown.boxOf(NodeId(i))) m_scene.previewed[*box] = true;
    sceneChanged();
}

/// The session only has the scales of the current configuration, not those of the reference.
void GraphCanvas::wantScales() {
    if (!m_leader) m_scales->setWanted(transform().zoom >= kDetailZoom);
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

void GraphCanvas::changeFont() {
    const LayoutOptions sizes = layoutOptionsFor(font());
    LayoutOptions options = m_document->layoutOptions();
    options.nodeWidth = sizes.nodeWidth, options.nodeHeight = sizes.nodeHeight;
    options.rowHeight = sizes.rowHeight;
    m_document->setLayoutOptions(options);
}

void GraphCanvas::paintEvent(QPaintEvent* event) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    if (!m_shown || !layers()) {
        painter.fillRect(event->rect(), colors.canvas);
        painter.setPen(colors.muted);
        paintNothing(painter);
        return;
    }
    m_scene.theme = &colors;
    m_scene.font = font();
    m_scene.cache = m_cache.get();
    const QImage& frame = m_painted->frame(m_scene, transform(), size(), devicePixelRatioF(), colors.canvas);
    painter.drawImage(0, 0, frame);
    if (const auto& band = m_selection.band()) {
        QColor fill = colors.accent;
        fill.setAlpha(30);
        painter.setPen(QPen(colors.accent, 1, Qt::DashLine));
        painter.setBrush(fill);
        painter.drawRect(*band);
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(colors.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void GraphCanvas::paintNothing(QPainter& painter) {
    if (!m_document->hasModel()) return;
    const int unit = fontMetrics().height();
    const QString text = m_shown ? tr("Nothing to compare with: %1.").arg(reference().whyNone())
                                 : tr("Laying out the graph\u2026");
    painter.drawText(rect().adjusted(unit, unit, -unit, -unit), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void GraphCanvas::showToolTip(QPoint position, QPoint global) {
    if (const auto box = m_view->boxAt(position))
        QToolTip::showText(global, m_hints.toolTip(*box), this);
    else
        QToolTip::hideText();
}

bool GraphCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showToolTip(help->pos(), help->globalPos());
        return true;
    }
    const bool gesture = event->type() == QEvent::NativeGesture || event->type() == QEvent::Gesture;
    if (gesture && m_input->zoomGesture(event)) return true;
    return QWidget::event(event);
}

void GraphCanvas::resizeEvent(QResizeEvent* event) { m_view->adaptToSize(event->oldSize()); }

void GraphCanvas::mousePressEvent(QMouseEvent* event) { m_input->press(event); }

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) { m_input->move(event); }

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) { m_input->release(event); }

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) { m_input->doubleClick(event); }

void GraphCanvas::wheelEvent(QWheelEvent* event) { m_input->wheel(event); }

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) { m_input->contextMenu(event); }

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    if (!m_input->key(event)) QWidget::keyPressEvent(event);
}

void GraphCanvas::leaveEvent(QEvent* event) {
    m_input->leave();
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

void GraphCanvas::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) updateLooks();
    if (event->type() == QEvent::FontChange) {
        m_painted->forget();
        changeFont();
    }
    QWidget::changeEvent(event);
}

}  // namespace quantloupe::ui
