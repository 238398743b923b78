// SPDX-License-Identifier: Apache-2.0
#include "panels/inspector.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QVBoxLayout>
#include <array>

#include "models/headline.h"
#include "panels/distribution_section.h"
#include "panels/metric_row.h"
#include "panels/override_section.h"
#include "panels/state_style.h"
#include "style/theme.h"

namespace quantloupe::ui {

namespace {

constexpr std::array kRows = {Metric::LocalQs,     Metric::CumulativeQs, Metric::WeightQs,
                              Metric::LeaveOneOut, Metric::Sqnr,         Metric::Cosine};

}  // namespace

Inspector::Inspector(Document* document, QWidget* parent) : PanelScrollArea(parent), m_document(document) {
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    build();
    connect(document, &Document::selectionChanged, this, &Inspector::showSelection);
    connect(document, &Document::modelChanged, this, &Inspector::showSelection);
    connect(document, &Document::typedTextWanted, this, [this] {
        if (m_comment->hasFocus()) commitComment();
    });
    connect(document, &Document::evaluationChanged, this, &Inspector::showResults);
    connect(document, &Document::configChanged, this, &Inspector::showResults);
    connect(&document->reference(), &LayerReference::changed, this, &Inspector::showResults);
    showSelection();
}

void Inspector::build() {
    const int unit = fontMetrics().height();
    m_body = new QWidget;
    m_body->setObjectName(QStringLiteral("panelBody"));
    auto* column = new QVBoxLayout(m_body);
    column->setContentsMargins(unit, unit, unit, unit);
    column->setSpacing(unit / 2);

    m_empty = makeLabel({}, "muted");
    m_empty->setWordWrap(true);
    column->addWidget(m_empty);
    m_toggleAll = new QPushButton;
    m_toggleAll->setFocusPolicy(Qt::TabFocus);
    m_toggleAll->setToolTip(tr("Space"));
    column->addWidget(m_toggleAll, 0, Qt::AlignLeft);

    m_details = new QWidget;
    auto* details = new QVBoxLayout(m_details);
    details->setContentsMargins(0, 0, 0, 0);
    details->setSpacing(unit / 2);
    m_name = makeLabel({}, "", 1.08, QFont::DemiBold);
    m_name->setWordWrap(true);
    m_name->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_kind = makeLabel({}, "muted", 0.95);
    m_kind->setWordWrap(true);
    details->addWidget(m_name);
    auto* fullRow = new QHBoxLayout;
    m_fullName = makeLabel({}, "muted", 0.9);
    m_fullName->setWordWrap(true);
    m_fullName->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_fullName->setToolTip(tr("The layer's name in the ONNX file"));
    auto* copy = makeLink(tr("Copy"), tr("Copies the layer's name in the ONNX file"));
    copy->setFocusPolicy(Qt::TabFocus);
    copy->setAccessibleName(tr("Copy the layer's name"));
    fullRow->addWidget(m_fullName, 1);
    fullRow->addWidget(copy, 0, Qt::AlignTop);
    details->addLayout(fullRow);
    details->addWidget(m_kind);

    auto* stateRow = new QHBoxLayout;
    m_state = makeLabel({}, "", 0.95, QFont::DemiBold);
    m_state->setContentsMargins(unit / 2, unit / 8, unit / 2, unit / 8);
    m_toggle = new QPushButton;
    m_toggle->setFocusPolicy(Qt::TabFocus);
    m_hint = makeLabel(QStringLiteral("Space"), "faint", 0.9);
    stateRow->addWidget(m_state);
    stateRow->addStretch(1);
    stateRow->addWidget(m_hint);
    stateRow->addWidget(m_toggle);
    details->addLayout(stateRow);
    m_reason = makeLabel({}, "muted", 0.95);
    m_reason->setWordWrap(true);
    details->addWidget(m_reason);
    m_host = new LinkButton;
    details->addWidget(m_host);

    m_sensitivity = new SectionHeading(tr("Sensitivity"));
    details->addSpacing(unit / 3);
    details->addWidget(m_sensitivity);
    auto* metrics = new QWidget;
    auto* rows = new QVBoxLayout(metrics);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    for (const Metric metric : kRows) {
        const QString name = metric == Metric::Sqnr ? tr("SQNR local") : metricName(metric);
        m_metrics.append(new MetricRow(name, metricMeaning(metric)));
        rows->addWidget(m_metrics.back());
    }
    m_latency = new MetricRow(metricName(Metric::Latency), metricMeaning(Metric::Latency));
    rows->addWidget(m_latency);
    details->addWidget(metrics);
    m_sensitivity->setBody(metrics, QStringLiteral("sensitivity"));
    details->addSpacing(unit / 3);
    m_distributions = new DistributionSection(m_document);
    details->addWidget(m_distributions);

    const auto form = [&](SectionHeading* heading, const QString& key) {
        details->addSpacing(unit / 3);
        details->addWidget(heading);
        auto* box = new QWidget;
        auto* layout = new QFormLayout(box);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setHorizontalSpacing(unit);
        layout->setVerticalSpacing(unit / 4);
        layout->setLabelAlignment(Qt::AlignLeft);
        layout->setRowWrapPolicy(QFormLayout::DontWrapRows);
        layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
        details->addWidget(box);
        heading->setBody(box, key);
        return layout;
    };
    m_facts = form(new SectionHeading(tr("Layer")), QStringLiteral("layer"));
    m_attributesHeading = new SectionHeading(tr("Attributes"));
    m_attributes = form(m_attributesHeading, QStringLiteral("attributes"));

    details->addSpacing(unit / 3);
    details->addWidget(new SectionHeading(tr("Comment")));
    m_comment = new QPlainTextEdit;
    m_comment->setPlaceholderText(tr("Why the layer has these settings; saved with the configuration"));
    m_comment->setTabChangesFocus(true);
    m_comment->setFixedHeight(unit * 5);
    m_comment->installEventFilter(this);
    m_comment->setAccessibleName(tr("Layer comment"));
    details->addWidget(m_comment);

    column->addWidget(m_details);
    m_override = new OverrideSection(m_document);
    column->addSpacing(unit / 3);
    column->addWidget(m_override);
    column->addStretch(1);
    setWidget(m_body);

    connect(copy, &QPushButton::clicked, this,
            [this] { QApplication::clipboard()->setText(textOf(m_fullName)); });
    for (QPushButton* toggle : {m_toggle, m_toggleAll})
        connect(toggle, &QPushButton::clicked, this, &Inspector::toggleRequested);
    connect(m_distributions, &DistributionSection::layersChosen, this, &Inspector::layersChosen);
    connect(m_host, &QPushButton::clicked, this, [this] {
        if (m_hostNode.valid()) Q_EMIT layerChosen(m_hostNode);
    });
}

void Inspector::showSelection() {
    if (m_shown.valid() && m_comment->hasFocus()) commitComment();
    m_shown = m_document->current();
    m_shownGraph = m_document->graph();
    const bool one = m_document->hasModel() && m_shown.valid() && m_document->selection().size() == 1;
    m_details->setVisible(one);
    m_empty->setVisible(!one);
    m_toggleAll->hide();
    m_override->setVisible(!m_document->selection().empty());
    if (!one) {
        m_shown = NodeId();
        showSeveral();
        return;
    }
    showStructure(m_document->graph()->node(m_shown));
    showResults();
}

void Inspector::showSeveral() {
    const std::size_t count = m_document->selection().size();
    if (count < 2) {
        m_empty->setText(
            m_document->hasModel()
                ? tr("Click a layer in the graph or the table to see its shapes, its sensitivity and why it "
                     "is quantized or not.\n\nPress Space to keep it in float, and Space again to quantize "
                     "it.\n\nShift+click selects all layers on the paths between.")
                : QString());
        return;
    }
    std::uint64_t macs = 0;
    bool macsKnown = true;
    std::size_t quantized = 0, skipped = 0;
    for (const NodeId node : m_document->selection()) {
        const LayerResult* layer = m_document->layer(node);
        if (!layer) continue;
        macs += layer->macs;
        macsKnown = macsKnown && layer->macsReason.empty();
        quantized += layer->state == LayerState::Quantized;
        skipped += layer->state == LayerState::Skipped;
    }
    m_toggleAll->setVisible(quantized + skipped > 0);
    m_toggleAll->setText(quantized > 0 ? tr("Keep All in Float") : tr("Quantize All"));
    m_empty->setText(
        tr("%1 layers selected: %2 quantized, %3 skipped, %4 MACs per sample.%5")
            .arg(count)
            .arg(quantized)
            .arg(skipped)
            .arg(macsKnown ? formatCount(macs) : kNoNumber,
                 count == 2 ? tr("\n\nLayers \u25b8 Skip Until Here skips everything on the paths between "
                                 "the two.")
                            : QString()));
}

void Inspector::showResults() {
    if (!m_shown.valid()) {
        if (m_document->hasModel()) showSeveral();
        return;
    }
    const LayerResult* layer = m_document->layer(m_shown);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_state), static_cast<QWidget*>(m_toggle), static_cast<QWidget*>(m_hint)})
        widget->setVisible(layer != nullptr);
    if (!layer) {
        m_host->hide();
        m_reason->hide();
        return;
    }

    const Node& node = m_document->graph()->node(m_shown);
    showKind(node, *layer);
    showState(*layer);
    // A folded or fused layer runs inside its host, whose values apply to both.
    const LayerResult* host = m_document->layer(m_hostNode);
    showMetrics(*layer, host);
    showLatency(host ? *host : *layer);
    if (!m_comment->hasFocus()) {
        const LayerSettings* const settings = m_document->config().settingsOf(node.name);
        const QString comment = settings == nullptr ? QString() : QString::fromStdString(settings->comment);
        if (comment != m_comment->toPlainText()) m_comment->setPlainText(comment);
    }
}

void Inspector::showKind(const Node& node, const LayerResult& layer) {
    QString kind = QString::fromStdString(node.op);
    if (!layer.macsReason.empty()) kind += tr(" \u00b7 \u2013 MACs");
    if (layer.macs > 0) kind += tr(" \u00b7 %1 MACs").arg(formatCount(layer.macs));
    if (layer.parameters > 0) kind += tr(" \u00b7 %1 weights").arg(formatCount(layer.parameters));
    if (layer.quantizable) kind += QStringLiteral(" \u00b7 ") + formatBits(layer);
    if (layer.io) kind += tr(" \u00b7 at a graph input or output");
    m_kind->setText(kind);
}

/// Shows the state, the host or the reason for it, and how to change it.
void Inspector::showState(const LayerResult& layer) {
    m_state->setText(stateText(layer.state));
    const QString style = stateStyleSheet(layer.state, themeOf(palette()), m_state->sizeHint().height() / 2);
    // Setting a style sheet lays out the whole panel, and so does hiding and showing a widget.
    if (m_state->styleSheet() != style) m_state->setStyleSheet(style);
    setBreakableText(m_reason, sentence(m_document->withLayerNames(QString::fromStdString(layer.reason))));
    m_hostNode = NodeId();
    bool tellsReason = !layer.reason.empty();
    m_host->setVisible(!layer.host.empty());
    if (!layer.host.empty()) {
        if (const auto host = m_document->graph()->findNode(layer.host)) m_hostNode = *host;
        m_host->setFullText((layer.state == LayerState::Folded ? tr("folded into ") : tr("fused into ")) +
                            m_document->layerName(layer.host));
        // The link already contains the reason.
        if (layer.reason.find(layer.host) != std::string::npos &&
            layer.reason.size() < layer.host.size() + 40)
            tellsReason = false;
    }
    m_reason->setVisible(tellsReason);
    m_toggle->setText(layer.state == LayerState::Skipped ? tr("Quantize") : tr("Keep in Float"));
    m_toggle->setVisible(layer.quantizable);
    m_hint->setVisible(layer.quantizable);
}

void Inspector::showMetrics(const LayerResult& layer, const LayerResult* host) {
    const LayerResult& valued = host ? *host : layer;
    const bool stale = m_document->metricsStale();
    const bool asIf = host || layer.state == LayerState::Skipped;
    m_sensitivity->setRemark(stale                 ? m_document->staleWord()
                             : host                ? tr("of %1").arg(m_document->layerName(m_hostNode))
                             : asIf && layer.local ? tr("local: as if quantized")
                                                   : QString());
    const TaskMetric gainMetric = m_document->gainMetric();
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        const auto value = metricValue(valued, kRows[i]);
        const MetricScale& scale = m_document->scale(kRows[i]);
        const bool local = kRows[i] != Metric::CumulativeQs && kRows[i] != Metric::LeaveOneOut;
        m_metrics[static_cast<qsizetype>(i)]->setValue(
            value ? formatMetric(*value, kRows[i], gainMetric) : QStringLiteral("\u2013"),
            value && kRows[i] != Metric::Cosine ? scale.position(*value) : -1,
            stale || host || (asIf && local));
        const LayerResult* baseline = m_document->reference().baselineLayer(valued.node);
        const auto before = baseline ? metricValue(*baseline, kRows[i]) : std::nullopt;
        m_metrics[static_cast<qsizetype>(i)]->setDifference(
            value && before ? formatMetricDifference(*value, *before, kRows[i], gainMetric) : QString());
    }
}

void Inspector::showLatency(const LayerResult& layer) {
    const auto cell = m_document->latency().of(layer);
    m_latency->setVisible(m_document->latency().table() != nullptr);
    m_latency->setValue(cell ? formatMilliseconds(cell->ms) : QStringLiteral("\u2013"), -1,
                        cell && cell->estimated);
    m_latency->setDifference(!cell ? QString() : cell->estimated ? tr("estimated") : tr("measured"));
}

QSize Inspector::minimumSizeHint() const {
    // The same for every layer, so that new results do not resize the graph.
    return {fontMetrics().height() * 19, fontMetrics().height() * 10};
}

void Inspector::commitComment() {
    if (!m_shown.valid() || m_shownGraph != m_document->graph())
        return;  // another model was opened meanwhile
    const std::string name = m_document->graph()->node(m_shown).name;
    ConfigEdit edit{m_document->config(), tr("Comment on %1").arg(QString::fromStdString(name)), {}};
    LayerSettings& settings = edit.next.layers[name];
    settings.comment = m_comment->toPlainText().trimmed().toStdString();
    if (settings.empty()) edit.next.layers.erase(name);
    if (edit.next != m_document->config()) m_document->edit(edit);
}

bool Inspector::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_comment && event->type() == QEvent::FocusOut) commitComment();
    return PanelScrollArea::eventFilter(watched, event);
}

}  // namespace quantloupe::ui
