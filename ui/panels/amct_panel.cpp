// SPDX-License-Identifier: Apache-2.0
#include "panels/amct_panel.h"

#include <QScrollBar>
#include <cmath>

#include "document/metric.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr const char* kStepTitles[kAmctSteps] = {
    QT_TRANSLATE_NOOP("Words", "Initial configuration"), QT_TRANSLATE_NOOP("Words", "Skip sensitive layers"),
    QT_TRANSLATE_NOOP("Words", "Evaluate again"), QT_TRANSLATE_NOOP("Words", "Tune parameters"),
    QT_TRANSLATE_NOOP("Words", "Verdict")};

std::size_t indexOfStep(AmctStep step) { return static_cast<std::size_t>(step); }

}  // namespace

QString amctNumberText(const AmctNumber& number) {
    return number.inDecibels ? formatDecibel(number.value) : formatPoints(-number.value / 100);
}

QString amctNumberWords(const AmctNumber& number) {
    if (number.inDecibels) return Words::tr("has an SQNR of %1").arg(formatDecibel(number.value));
    const QString points = QString::number(std::abs(number.value), 'f', 1);
    if (points == QLatin1String("0.0")) return Words::tr("loses no accuracy");
    return number.value < 0 ? Words::tr("gains %1 points").arg(points)
                            : Words::tr("loses %1 points").arg(points);
}

AmctPanel::AmctPanel(Document* document, QWidget* parent)
    : PanelScrollArea(parent), m_document(document), m_guide(document) {
    build();
    connect(&m_guide, &AmctGuide::changed, this, [this] {
        if (isVisible()) refresh();
    });
    connect(document->job(), &EvaluationJob::pausedChanged, &m_guide, &AmctGuide::changed);
    refresh();
}

void AmctPanel::build() {
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit, unit * 4 / 5, unit, unit);
    column->setSpacing(unit * 2 / 3);
    column->addWidget(buildTarget());
    m_verdictCard = new QFrame;
    m_verdictCard->setObjectName(QStringLiteral("card"));
    auto* inside = new QVBoxLayout(m_verdictCard);
    inside->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 3);
    m_verdict = makeLabel({}, "", 1);
    m_verdict->setWordWrap(true);
    inside->addWidget(m_verdict);
    column->addWidget(m_verdictCard);
    for (std::size_t step = 0; step < kAmctSteps; ++step) {
        m_heads[step] = new StepHead(static_cast<int>(step) + 1, Words::tr(kStepTitles[step]));
        m_bodies[step] = new QWidget;
        auto* rows = new QVBoxLayout(m_bodies[step]);
        rows->setContentsMargins(qRound(unit * 1.85), 0, 0, unit / 3);
        rows->setSpacing(unit / 2);
        switch (static_cast<AmctStep>(step)) {
            case AmctStep::Initial:
                buildInitial(rows);
                break;
            case AmctStep::Skip:
                buildSkip(rows);
                break;
            case AmctStep::JudgeSkipped:
                m_judgeText = addText(rows);
                break;
            case AmctStep::Parameters:
                buildParameters(rows);
                break;
            case AmctStep::Verdict:
                buildVerdict(rows);
                break;
        }
        auto* box = new QVBoxLayout;
        box->setSpacing(unit / 4);
        box->addWidget(m_heads[step]);
        box->addWidget(m_bodies[step]);
        column->addLayout(box);
        connect(m_heads[step], &StepHead::clicked, this, [this, step] {
            const auto chosen = static_cast<AmctStep>(step);
            open(isOpen(chosen) && m_present ? *m_present : chosen);
        });
    }
    column->addStretch(1);
    setWidget(body);
}

QWidget* AmctPanel::buildTarget() {
    const int unit = fontMetrics().height();
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(unit / 2);
    m_targetLabel = makeLabel({}, "muted");
    m_target = new NumberField(tr("Target of AMCT's workflow"));
    m_target->setMaximumWidth(unit * 4);
    m_unit = makeLabel({}, "muted");
    layout->addWidget(m_targetLabel);
    layout->addStretch(1);
    layout->addWidget(m_target);
    layout->addWidget(m_unit);
    row->setToolTip(
        tr("Acceptance target: the largest accuracy drop from the float network or, without classes, the "
           "lowest SQNR of the outputs"));
    connect(m_target, &NumberField::entered, this, &AmctPanel::enterTarget);
    return row;
}

/// Returns whether the available results are in decibels instead of points.
bool AmctPanel::inDecibels() {
    for (const auto& number : m_guide.state().numbers)
        if (number) return number->inDecibels;
    return false;
}

void AmctPanel::enterTarget(const QString& text) {
    bool isNumber = false;
    AmctTarget target = m_guide.target();
    (inDecibels() ? target.decibels : target.points) = text.toDouble(&isNumber);
    if (!isNumber || !m_guide.setTarget(target))
        m_target->setComplaint(inDecibels() ? tr("Enter a number of decibels")
                                            : tr("Enter a number of points from 0 to 100"));
}

QLabel* AmctPanel::addText(QVBoxLayout* rows, const QString& text) {
    auto* label = makeLabel(text, "muted", 0.95);
    label->setWordWrap(true);
    rows->addWidget(label);
    return label;
}

QSize AmctPanel::minimumSizeHint() const {
    return {fontMetrics().height() * 19, fontMetrics().height() * 10};
}

void AmctPanel::showEvent(QShowEvent* event) {
    refresh();
    PanelScrollArea::showEvent(event);
}

void AmctPanel::open(AmctStep step) {
    for (std::size_t i = 0; i < kAmctSteps; ++i) m_bodies[i]->setVisible(i == indexOfStep(step));
}

void AmctPanel::refresh() {
    const AmctState& state = m_guide.state();
    const bool decibels = inDecibels();
    widget()->setEnabled(m_document->hasModel());
    m_targetLabel->setText(decibels ? tr("Minimum SQNR") : tr("Maximum drop"));
    m_unit->setText(decibels ? tr("dB") : tr("points"));
    m_target->setValue(numberText(decibels ? m_guide.target().decibels : m_guide.target().points));
    for (std::size_t step = 0; step < kAmctSteps; ++step) {
        const auto& number = state.numbers[step];
        m_heads[step]->setState(state.done[step], step == indexOfStep(state.present),
                                number ? amctNumberText(*number) : QString(),
                                number ? std::optional(m_guide.target().met(*number)) : std::nullopt);
    }
    if (std::exchange(m_present, state.present) != state.present) open(state.present);
    refreshInitial();
    refreshSkip();
    refreshParameters();
    refreshVerdict();
}

}  // namespace quantloupe::ui
