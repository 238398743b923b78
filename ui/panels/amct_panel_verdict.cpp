// SPDX-License-Identifier: Apache-2.0
// What the workflow says of the network: whether it is good enough, what is next, and what a verdict means.
#include <QHBoxLayout>
#include <set>

#include "panels/amct_panel.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

QString amctLayersWords(std::size_t count) { return count == 1 ? Words::tr("1 layer") : Words::tr("%1 layers").arg(count); }

std::size_t amctLayersLeft(const std::vector<SkipCandidates>& groups) {
    std::set<NodeId> layers;  // the first layer may also be one with few parameters
    for (const SkipCandidates& candidates : groups)
        layers.insert(candidates.quantized.begin(), candidates.quantized.end());
    return layers.size();
}

QString amctNextWords(const AmctState& state) {
    const int step = static_cast<int>(state.present) + 1;
    if (!state.done[static_cast<std::size_t>(state.present)]) return Words::tr("Next: step %1.").arg(step);
    if (state.present != AmctStep::Parameters) return Words::tr("Step %1 is done, but not enough.").arg(step);
    return state.untried > 0
               ? Words::tr("Step 4 was begun: %1 of its variants are not measured yet.").arg(state.untried)
               : Words::tr("Step 4 is measured: one of its variants is better, use it.");
}

void AmctPanel::buildVerdict(QVBoxLayout* rows) {
    m_verdictText = addText(rows);
    m_remove = new QPushButton(tr("Keep every layer in float"));
    m_remove->setToolTip(tr("Removes the quantization; Ctrl+Z brings it back"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_remove);
    row->addStretch(1);
    rows->addLayout(row);
    connect(m_remove, &QPushButton::clicked, this, [this] { m_document->edit(skipPattern(m_document->config(), ".*")); });
}

void AmctPanel::refreshVerdict() {
    const AmctState& state = m_guide.state();
    const auto number = m_guide.numberOf(m_document->config());
    const QString target = number && number->inDecibels ? tr("at least %1 is wanted").arg(numberText(m_guide.target().decibels))
                                                        : tr("at most %1 may be lost").arg(numberText(m_guide.target().points));
    const QString words = number ? amctNumberWords(*number) : QString();
    const std::size_t left = amctLayersLeft(m_guide.candidates());
    QString verdict, more;
    switch (state.verdict) {
        case AmctVerdict::NotMeasured:
            verdict = !m_document->hasModel()       ? tr("Open a model.")
                      : m_document->job()->paused() ? tr("Paused: this configuration is not measured yet.")
                      : m_document->evaluating()    ? tr("Measuring\u2026")
                      : m_document->heldEdits() > 0 ? tr("Held: F5 measures this configuration.")
                                                    : tr("This configuration is not measured; F5 does it.");
            more = tr("Comes once this configuration is measured.");
            break;
        case AmctVerdict::GoOn:
            verdict = tr("The network %1, %2. %3").arg(words, target, amctNextWords(state));
            more = tr("Open: %1 variants of step 4 are not measured, and %2 of step 2 could still be skipped.")
                       .arg(state.untried)
                       .arg(amctLayersWords(left));
            break;
        case AmctVerdict::Good:
            verdict = tr("Good enough: the network %1, %2.").arg(words, target);
            more = tr("Nothing more is to be done. The Export menu writes it, as AMCT's configuration, too.");
            break;
        case AmctVerdict::Unsuitable:
            verdict = tr("This model is not suitable for quantization: with all that was tried it %1, %2.").arg(words, target);
            more = tr("AMCT's documentation says to remove the quantization configuration then: the float model is used as it is; its "
                      "file was "
                      "never changed. What goes beyond AMCT's steps: more layers in float (of step 2: %1), equalization, bias "
                      "correction, more bits.")
                       .arg(amctLayersWords(left));
            break;
        case AmctVerdict::Removed:
            verdict = tr("Nothing is quantized any more.");
            more = tr("The quantization is removed: the network computes in float. Ctrl+Z brings it back.");
            break;
    }
    const EvaluationPtr evaluation = m_document->evaluation();
    if (evaluation && evaluation->randomInputs) verdict += QLatin1Char(' ') + tr("These are random inputs: open data to judge.");
    m_verdict->setText(verdict);
    setRole(m_verdict, state.verdict == AmctVerdict::Good ? "good" : state.verdict == AmctVerdict::Unsuitable ? "bad" : "");
    m_verdictText->setText(more);
    m_remove->setVisible(state.verdict == AmctVerdict::Unsuitable);
    const auto& judged = state.numbers[static_cast<std::size_t>(AmctStep::JudgeSkipped)];
    QString judgement = judged ? tr("With the skipped layers in float the network %1.").arg(amctNumberWords(*judged))
                               : tr("Measured as soon as layers are skipped in step 2.");
    if (judged && left > 0 && !m_guide.target().met(*judged))
        judgement += QLatin1Char(' ') + tr("Of step 2, %1 could be skipped, too.").arg(amctLayersWords(left));
    m_judgeText->setText(judgement);
}

}  // namespace quantloupe::ui
