// SPDX-License-Identifier: Apache-2.0
// The result of the workflow: whether the network meets the target, the next step, and what the verdict
// means.
#include <QHBoxLayout>
#include <set>

#include "panels/amct_panel.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

std::size_t amctLayersLeft(const std::vector<SkipCandidates>& groups) {
    std::set<NodeId> layers;  // the first layer may also be one with few parameters
    for (const SkipCandidates& candidates : groups)
        layers.insert(candidates.quantized.begin(), candidates.quantized.end());
    return layers.size();
}

QString amctNextWords(const AmctState& state) {
    const int step = static_cast<int>(state.present) + 1;
    if (!state.done[static_cast<std::size_t>(state.present)]) return Words::tr("Next: step %1.").arg(step);
    if (state.present != AmctStep::Parameters)
        return Words::tr("Step %1 is done, but the target is not met.").arg(step);
    return state.untried > 0 ? Words::tr("Step 4 is in progress: %1 of its variants are not evaluated yet.")
                                   .arg(state.untried)
                             : Words::tr("Step 4 is evaluated: one of its variants is better. Use it.");
}

void AmctPanel::buildVerdict(QVBoxLayout* rows) {
    m_verdictText = addText(rows);
    m_remove = new QPushButton(tr("Keep Every Layer in Float"));
    m_remove->setToolTip(tr("Removes the quantization; Ctrl+Z restores it"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_remove);
    row->addStretch(1);
    rows->addLayout(row);
    connect(m_remove, &QPushButton::clicked, this,
            [this] { m_document->edit(skipPattern(m_document->config(), ".*")); });
}

void AmctPanel::refreshVerdict() {
    const AmctState& state = m_guide.state();
    const auto number = m_guide.numberOf(m_document->config());
    const double points = m_guide.target().points;
    const QString target = number && number->inDecibels
                               ? tr("the target is at least %1 dB").arg(numberText(m_guide.target().decibels))
                           : points == 1
                               ? tr("the target is a loss of at most 1 point")
                               : tr("the target is a loss of at most %1 points").arg(numberText(points));
    const QString words = number ? amctNumberWords(*number) : QString();
    const std::size_t left = amctLayersLeft(m_guide.candidates());
    QString verdict, more;
    switch (state.verdict) {
        case TuningVerdict::NotMeasured:
            verdict = !m_document->hasModel()       ? tr("Open a model.")
                      : m_document->job()->paused() ? tr("Paused: this configuration is not evaluated yet.")
                      : m_document->evaluating()    ? tr("Evaluating\u2026")
                      : m_document->pendingEdits() > 0
                          ? tr("Not evaluated yet. Press F5 to evaluate.")
                          : tr("This configuration is not evaluated. Press F5 to evaluate.");
            more = tr("The verdict appears once this configuration is evaluated.");
            break;
        case TuningVerdict::GoOn:
            verdict = tr("The network %1; %2. %3").arg(words, target, amctNextWords(state));
            more = tr("Remaining: %1 variants of step 4 are not evaluated, and %2 of step 2 could still be "
                      "skipped.")
                       .arg(state.untried)
                       .arg(layersText(left));
            break;
        case TuningVerdict::Good:
            verdict = tr("Target met: the network %1; %2.").arg(words, target);
            more =
                tr("There is nothing more to do. Export the result from the Export menu, for example as "
                   "an AMCT configuration.");
            break;
        case TuningVerdict::Unsuitable:
            verdict =
                tr("This model is not suitable for quantization: after everything that was tried, it %1; %2.")
                    .arg(words, target);
            more = tr("In this case, AMCT's documentation says to remove the quantization configuration and "
                      "to use the float model, whose file was never changed. Options beyond AMCT's steps: "
                      "more layers in float (%1 of step 2), equalization, bias correction, more bits.")
                       .arg(layersText(left));
            break;
        case TuningVerdict::Removed:
            verdict = tr("Nothing is quantized anymore.");
            more = tr("The quantization is removed: the network computes in float. Ctrl+Z restores it.");
            break;
    }
    const EvaluationPtr evaluation = m_document->evaluation();
    if (evaluation && evaluation->randomInputs)
        verdict += QLatin1Char(' ') + tr("This was evaluated on random inputs: "
                                         "open data for a meaningful result.");
    m_verdict->setText(verdict);
    setRole(m_verdict, state.verdict == TuningVerdict::Good         ? "good"
                       : state.verdict == TuningVerdict::Unsuitable ? "bad"
                                                                    : "");
    m_verdictText->setText(more);
    m_remove->setVisible(state.verdict == TuningVerdict::Unsuitable);
    const auto& judged = state.numbers[static_cast<std::size_t>(AmctStep::JudgeSkipped)];
    QString judgement =
        judged ? tr("With the skipped layers in float, the network %1.").arg(amctNumberWords(*judged))
               : tr("Evaluated as soon as layers are skipped in step 2.");
    if (judged && left > 0 && !m_guide.target().met(*judged))
        judgement += QLatin1Char(' ') + tr("%1 of step 2 could also be skipped.").arg(layersText(left));
    m_judgeText->setText(judgement);
}

}  // namespace quantloupe::ui
