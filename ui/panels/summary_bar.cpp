// SPDX-License-Identifier: Apache-2.0
#include "panels/summary_bar.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "document/metric.h"
#include "graph/preview_forecast.h"
#include "models/headline.h"
#include "results/task_metric.h"
#include "session/stages/user_metrics.h"
#include "style/path_text.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

struct BaselineDifference {
    QString text;  ///< "+18.9 vs. ⚑"; empty: unknown
    bool loss = false;
};

/// The difference from the pinned baseline, which is evaluated again if the data changes.
BaselineDifference baselineDifference(const Evaluation* evaluation, const Evaluation* baseline) {
    if (evaluation == nullptr || baseline == nullptr || !evaluation->quantized || !baseline->quantized ||
        evaluation->rough)
        return {};
    const Accuracy &now = *evaluation->quantized, &then = *baseline->quantized;
    if (now.samples != then.samples) return {};
    const QString end = Words::tr(" vs. \u2691");
    const auto rate = meaningfulRate(*evaluation), before = meaningfulRate(*baseline);
    if (rate && before && rate->metric == before->metric) {
        const double change = rate->value - before->value;
        return {formatPoints(change) + end, isVisibleLoss(change * 100)};
    }
    if (now.sqnrDb && then.sqnrDb) {
        const QString text = formatMetricDifference(*now.sqnrDb, *then.sqnrDb, Metric::Sqnr);
        if (!text.isEmpty())
            return {text + QStringLiteral(" dB") + end, isVisibleLoss(*now.sqnrDb - *then.sqnrDb)};
    }
    return {};
}

/// Includes the predicted effect of the edit once predictions are reliable. Until the first results of the
/// evaluation, the document still has those of an earlier one.
QString measuringText(const Evaluation* evaluation, const QuantizationConfig& config) {
    QString text = Words::tr("evaluating\u2026");
    if (evaluation == nullptr || !evaluation->expected || evaluation->complete ||
        evaluation->config != config)
        return text;
    return text + QLatin1Char(' ') + expectedWords(*evaluation->expected);
}

/// What the header says next to the quantized accuracy; mostly nothing.
QString statusText(const Document& document, bool known) {
    const Evaluation* evaluation = document.evaluation().get();
    const bool rough = evaluation && evaluation->rough && known;
    if (const int pending = document.pendingEdits(); pending > 0)
        return pending == 1 ? Words::tr("1 edit not evaluated, press F5")
                            : Words::tr("%1 edits not evaluated, press F5").arg(pending);
    if (document.evaluating()) {
        if (document.accuracyStale()) return measuringText(evaluation, document.config());
        return rough ? Words::tr("preliminary") : QString();
    }
    // The evaluation failed or was cancelled.
    if (document.accuracyStale()) return Words::tr("out of date, press F5");
    if (rough) return Words::tr("incomplete, press F5");
    return document.metricsStale() ? Words::tr("layers out of date, press F5") : QString();
}

}  // namespace

SummaryBar::SummaryBar(Document* document, QWidget* parent) : QFrame(parent), m_document(document) {
    setObjectName(QStringLiteral("header"));
    // fit() adapts the content to the width. If the width depended on the content, the layout could
    // oscillate.
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    const int unit = fontMetrics().height();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit, unit * 2 / 5, unit, unit * 2 / 5);
    row->setSpacing(unit * 2);

    // A column: a caption and a note over a large value.
    const auto block = [&](const QString& caption, QLabel*& value, QLabel*& note, double size) {
        auto* box = new QVBoxLayout;
        box->setSpacing(0);
        auto* top = new QHBoxLayout;
        top->setSpacing(unit / 2);
        top->addWidget(makeLabel(caption.toUpper(), "heading", 0.78, QFont::Bold));
        note = makeLabel({}, "muted", 0.82);
        top->addWidget(note);
        top->addStretch(1);
        value = makeLabel(kNoNumber, "", size, QFont::DemiBold);
        box->addLayout(top);
        box->addWidget(value);
        return box;
    };
    row->addLayout(block(tr("Float"), m_floatValue, m_floatNote, 1.75));
    auto* quantized = block(tr("Quantized"), m_value, m_note, 1.75);
    quantized->removeWidget(m_value);
    auto* valueRow = new QHBoxLayout;
    valueRow->setSpacing(unit / 2);
    m_interval = makeLabel({}, "faint", 1);
    m_difference = makeLabel({}, "muted", 0.92, QFont::Medium);
    m_baseline = makeLabel({}, "muted", 0.92, QFont::Medium);
    m_status = makeLabel({}, "faint", 0.92);
    valueRow->addWidget(m_value);
    valueRow->addWidget(m_interval, 0, Qt::AlignBottom);
    valueRow->addWidget(m_difference, 0, Qt::AlignBottom);
    valueRow->addWidget(m_baseline, 0, Qt::AlignBottom);
    valueRow->addWidget(m_status, 0, Qt::AlignBottom);
    valueRow->addStretch(1);
    for (QLabel* label : {m_interval, m_difference, m_baseline, m_status})
        label->setContentsMargins(0, 0, 0, unit / 4);
    quantized->addLayout(valueRow);
    row->addLayout(quantized);

    const auto part = [&](QLayout* content) {
        auto* widget = new QWidget;
        content->setContentsMargins(0, 0, 0, 0);
        widget->setLayout(content);
        row->addWidget(widget);
        return widget;
    };
    m_layersPart = part(block(tr("Layers"), m_counts, m_countsNote, 1.15));
    QLabel* macsNote = nullptr;
    m_macsPart = part(block(tr("MACs in float"), m_macs, macsNote, 1.15));
    m_macs->setToolTip(tr("Share of the MACs that stay in float"));
    m_latencyPart = part(block(tr("Latency"), m_latency, m_latencyNote, 1.15));
    m_metricPart = part(block(tr("Metric program"), m_metric, m_metricNote, 1.15));
    m_metric->setObjectName(QStringLiteral("metric"));
    for (QWidget* optional : {m_latencyPart, m_metricPart}) optional->hide();
    row->addStretch(1);

    m_undo = new QPushButton(tr("Undo"));
    m_redo = new QPushButton(tr("Redo"));
    m_improve = new QPushButton(tr("Improve Accuracy\u2026"));
    m_export = new QPushButton(tr("Export\u2026"));
    m_export->setProperty("primary", true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(unit / 2);
    for (QPushButton* button : {m_undo, m_redo, m_improve, m_export}) {
        button->setFocusPolicy(Qt::TabFocus);
        buttons->addWidget(button, 0, Qt::AlignVCenter);
    }
    row->addLayout(buttons);

    connect(document, &Document::evaluationChanged, this, &SummaryBar::refresh);
    connect(document, &Document::dataChanged, this, &SummaryBar::refresh);
    connect(document, &Document::historyChanged, this, &SummaryBar::refresh);
    connect(&document->reference(), &LayerReference::changed, this, &SummaryBar::refresh);
    connect(document, &Document::manualEvaluationChanged, this, &SummaryBar::refresh);
    refresh();
}

void SummaryBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fit();
}

/// In a narrow window, parts are hidden or shortened so that nothing is cut off, the least important first.
void SummaryBar::fit() {
    m_macsPart->show();
    m_layersPart->show();
    m_latencyPart->setVisible(!m_latency->text().isEmpty());
    m_metricPart->setVisible(!m_metric->text().isEmpty());
    m_undo->show();
    m_redo->show();
    for (QLabel* label : {m_interval, m_difference, m_baseline, m_status, m_note})
        label->setVisible(!label->text().isEmpty());
    m_improve->setText(tr("Improve Accuracy\u2026"));
    const auto tooWide = [this] {
        layout()->activate();  // otherwise, nested layouts return outdated sizes
        return minimumSizeHint().width() > width();
    };
    if (tooWide()) m_macsPart->hide();
    if (tooWide()) m_improve->setText(tr("Improve\u2026"));
    if (tooWide()) m_latencyPart->hide();
    if (tooWide()) m_layersPart->hide();
    if (tooWide()) m_metricPart->hide();
    if (tooWide()) m_undo->hide(), m_redo->hide();  // also in the Edit menu
    for (QLabel* label : {m_interval, m_baseline, m_note, m_difference})
        if (tooWide()) label->hide();
}

void SummaryBar::refresh() {
    const Evaluation* evaluation = m_document->evaluation().get();
    const Headline line = headlineOf(evaluation, m_document->dataKind(), m_document->evaluating());
    const bool stale = m_document->accuracyStale();
    m_floatValue->setText(line.floatValue);
    m_floatNote->setText(line.floatNote);
    m_value->setText(line.value);
    m_note->setText(line.note);
    m_interval->setText(line.interval);
    m_difference->setText(line.difference);
    m_status->setText(statusText(*m_document, line.known));
    const EvaluationPtr baseline =
        m_document->history().baselineEntry() ? m_document->reference().evaluation() : nullptr;
    const BaselineDifference difference = baselineDifference(evaluation, baseline.get());
    m_baseline->setText(difference.text);
    m_value->setToolTip(line.toolTip);
    constexpr double kSmallLoss = 0.02 + 1e-9, kLargeLoss = 0.1;  // 1 - 0.98 is not exactly 0.02
    setRole(m_value, !line.known || stale      ? "faint"
                     : line.neutral            ? "muted"
                     : line.loss <= kSmallLoss ? "good"
                     : line.loss > kLargeLoss  ? "bad"
                                               : "");
    setRole(m_difference, stale ? "faint" : "muted");
    setRole(m_baseline, stale ? "faint" : difference.loss ? "bad" : "good");

    std::size_t counts[5] = {};
    for (const LayerResult& layer : m_document->layers()) ++counts[static_cast<std::size_t>(layer.state)];
    const auto count = [&counts](LayerState state) {
        return formatNumber(counts[static_cast<std::size_t>(state)]);
    };
    const bool any = !m_document->layers().empty();
    m_counts->setText(any ? tr("%1 quantized \u00b7 %2 skipped")
                                .arg(count(LayerState::Quantized), count(LayerState::Skipped))
                          : kNoNumber);
    m_countsNote->setText(
        any ? tr("%1 float \u00b7 %2 folded \u00b7 %3 fused")
                  .arg(count(LayerState::Float), count(LayerState::Folded), count(LayerState::Fused))
            : QString());
    const FloatCost cost = floatCostOf(m_document->layers());
    const bool macsKnown = cost.macsReason.empty() && cost.totalMacs > 0;
    constexpr double kLeastShown = 0.0005;  // would be rounded to 0.0 %
    const double share = macsKnown ? static_cast<double>(cost.macs) / static_cast<double>(cost.totalMacs) : 0;
    m_macs->setText(
        macsKnown ? (share > 0 && share < kLeastShown ? QStringLiteral("< 0.1\u202f%") : formatRate(share))
                  : kNoNumber);
    m_macs->setToolTip(cost.macsReason.empty()
                           ? tr("Share of the MACs that stay in float")
                           : tr("Unknown: %1").arg(QString::fromStdString(cost.macsReason)));
    refreshLatency();
    refreshMetric();
    fit();
}

void SummaryBar::refreshMetric() {
    const auto& program = m_document->metricProgram();
    const Evaluation* evaluation = m_document->evaluation().get();
    const auto values = program && evaluation ? userMetricOf(*evaluation) : std::nullopt;
    m_metric->setText(!program ? QString() : values ? formatOwnMetric(values->quantized) : kNoNumber);
    m_metricNote->setText(values ? tr("float %1").arg(formatOwnMetric(values->floating)) : QString());
    m_metric->setToolTip(program ? pathText(program->program) : QString());
    setRole(m_metric, m_document->accuracyStale() ? "faint" : "");
}

void SummaryBar::refreshLatency() {
    const auto sum = m_document->latency().sum(m_document->layers());
    m_latency->setText(sum ? latencyText(*sum) : QString());
    m_latencyNote->setText(!sum ? QString() : sum->estimated() ? tr("estimated") : tr("measured"));
    m_latency->setToolTip(sum ? latencyDetails(*sum) : QString());
}

}  // namespace quantloupe::ui
