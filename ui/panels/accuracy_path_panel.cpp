// SPDX-License-Identifier: Apache-2.0
#include "panels/accuracy_path_panel.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "document/metric.h"
#include "results/task_metric.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

enum class Measure { Rate, Sqnr, None };

Measure measureOf(const std::vector<AccuracyStep>& path) {
    const auto all = [&](auto member, std::size_t from) {
        return std::all_of(path.begin() + static_cast<std::ptrdiff_t>(std::min(from, path.size())),
                           path.end(),
                           [&](const AccuracyStep& step) { return (step.accuracy.*member).has_value(); });
    };
    if (path.empty()) return Measure::None;
    if (std::ranges::all_of(path,
                            [](const AccuracyStep& s) { return meaningfulRate(s.accuracy).has_value(); }))
        return Measure::Rate;
    return all(&Accuracy::sqnrDb, 1) ? Measure::Sqnr : Measure::None;
}

std::optional<double> valueOf(const AccuracyStep& step, Measure measure) {
    if (measure == Measure::Sqnr) return step.accuracy.sqnrDb;
    const auto rate = taskRate(step.accuracy);
    return rate ? std::optional(rate->value) : std::nullopt;
}

}  // namespace

std::vector<WaterfallStep> waterfallSteps(const std::vector<AccuracyStep>& path) {
    const Measure measure = measureOf(path);
    std::vector<WaterfallStep> steps;
    if (measure == Measure::None) return steps;
    for (const AccuracyStep& step : path) {
        const auto value = valueOf(step, measure);
        // Exact outputs have no finite SQNR, so there is no bar to draw.
        if (!value || !std::isfinite(*value)) continue;
        const bool rate = measure != Measure::Sqnr;
        WaterfallStep row;
        row.name = sentence(QString::fromStdString(step.name));
        row.value = *value;
        row.valueText = rate ? formatRate(*value) : formatDecibel(*value);
        if (!steps.empty()) {
            const double before = steps.back().value, change = *value - before;
            row.changeText =
                rate ? formatPoints(change) : formatMetricDifference(*value, before, Metric::Sqnr);
            row.loss = isVisibleLoss(rate ? change * 100 : change);
        }
        row.toolTip = samplesText(step.accuracy.samples);
        if (step.accuracy.agreement)
            row.toolTip +=
                Words::tr("\nagreement with the float network: ") + formatRate(*step.accuracy.agreement);
        if (step.accuracy.sqnrDb)
            row.toolTip += Words::tr("\noutput SQNR: ") + formatDecibel(*step.accuracy.sqnrDb);
        steps.push_back(std::move(row));
    }
    return steps;
}

QString costliestStep(const std::vector<AccuracyStep>& path) {
    const std::vector<WaterfallStep> steps = waterfallSteps(path);
    const bool decibels = measureOf(path) == Measure::Sqnr;
    // The squared error adds up, decibels do not. Exact steps have none, and no bar.
    const auto error = [&](std::size_t i) {
        return decibels ? std::pow(10.0, -steps[i].value / 10) : -steps[i].value;
    };
    std::optional<std::size_t> worst;
    double most = decibels ? 1e-6 : 0;  // 60 dB: rounding alone
    for (std::size_t i = decibels ? 0 : 1; i < steps.size(); ++i)
        if (const double loss = error(i) - (i == 0 ? 0 : error(i - 1)); loss > most) most = loss, worst = i;
    if (!worst) return {};
    const WaterfallStep& step = steps[*worst];
    if (*worst == 0)
        return Words::tr("Largest loss at \u201c%1\u201d: to %2").arg(step.name.toLower(), step.valueText);
    return Words::tr("Largest loss at \u201c%1\u201d: %2%3")
        .arg(step.name.toLower(), step.changeText, decibels ? QStringLiteral(" dB") : Words::tr(" points"));
}

AccuracyPathPanel::AccuracyPathPanel(Document* document, QWidget* parent)
    : QueryPanel(document, QuerySlot::AccuracyPath, parent) {
    const int unit = fontMetrics().height();
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit, unit / 2, unit, unit / 2);
    column->setSpacing(unit / 3);
    m_verdict = makeLabel({}, "muted");
    m_verdict->setWordWrap(true);
    column->addWidget(m_verdict);
    m_waterfall = new Waterfall;
    column->addWidget(m_waterfall);
    column->addStretch(1);
    auto* scroll = new PanelScrollArea;
    scroll->setWidget(body);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    m_verdict->setText(tr("Open a model and data to see at which step accuracy is lost."));
}

EvaluationJob::Query AccuracyPathPanel::makeQuery(const QuantizationConfig& config) {
    if (!answered()) m_verdict->setText(tr("Evaluating each step\u2026"));
    return [this, config](Session& session, const CancelToken& cancel) {
        std::vector<AccuracyStep> path = session.accuracyPath(config, cancel);
        if (session.randomInputs())
            for (AccuracyStep& step : path) step.accuracy.agreement.reset();  // it says nothing
        return [this, path = std::move(path)] { m_path = path; };
    };
}

void AccuracyPathPanel::showAnswer(const QString& refusal) {
    if (!answered()) m_path.clear();
    m_waterfall->setSteps(waterfallSteps(m_path));
    m_waterfall->setQuiet(stale());
    if (!refusal.isEmpty()) return m_verdict->setText(sentence(refusal));
    if (m_path.empty())
        return m_verdict->setText(!document()->hasModel()    ? QString()
                                  : document()->evaluation() ? tr("Evaluating each step\u2026")
                                                             : tr("The network has not been evaluated."));
    const QString costliest = costliestStep(m_path);
    m_verdict->setText((costliest.isEmpty() ? tr("No step loses accuracy") : costliest) +
                       (document()->evaluation() && document()->evaluation()->randomInputs
                            ? tr(" (random inputs)")
                            : QString()) +
                       (stale() ? tr(" \u00b7 for the previous configuration") : QString()));
}

}  // namespace quantloupe::ui
