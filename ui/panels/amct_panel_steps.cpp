// SPDX-License-Identifier: Apache-2.0
// The bodies of the workflow's steps.
#include <QHBoxLayout>

#include "document/metric.h"
#include "panels/amct_panel.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr int kDifferencesShown = 3;

QString candidateTitle(SkipReason reason) {
    switch (reason) {
        case SkipReason::Input:
            return Words::tr("Input layers");
        case SkipReason::Output:
            return Words::tr("Output layers");
        case SkipReason::FewParameters:
            return Words::tr("Few parameters");
        case SkipReason::LowCosine:
            return Words::tr("Cosine below %1").arg(kAmctCosine);
    }
    return {};
}

QString candidateMeaning(const SkipCandidates& candidates) {
    switch (candidates.reason) {
        case SkipReason::Input:
            return Words::tr("The first layers with weights after the network's inputs");
        case SkipReason::Output:
            return Words::tr("The last layers with weights before the network's outputs");
        case SkipReason::FewParameters:
            return Words::tr("Layers with fewer than %1 weights, a tenth of the median")
                .arg(formatCount(candidates.detail));
        case SkipReason::LowCosine:
            return Words::tr(
                       "Cosine of each layer's own output with float inputs, which shows where the error "
                       "arises. With accumulated errors, as AMCT's analyzer compares them, %1 layers are "
                       "below this limit")
                .arg(candidates.detail);
    }
    return {};
}

std::vector<std::string> namesOf(const Graph& graph, const std::vector<NodeId>& layers) {
    std::vector<std::string> names;
    for (const NodeId layer : layers) names.push_back(graph.node(layer).name);
    return names;
}

}  // namespace

void AmctPanel::buildInitial(QVBoxLayout* rows) {
    m_initialText = addText(rows);
    m_usePreset = new QPushButton(tr("Use AMCT Preset"));
    m_usePreset->setToolTip(
        tr("Sets scheme, calibration and transforms to AMCT's defaults; skipped layers stay skipped"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_usePreset);
    row->addStretch(1);
    rows->addLayout(row);
    connect(m_usePreset, &QPushButton::clicked, this,
            [this] { m_document->edit(applyPreset(m_document->config(), kAmctPreset)); });
}

void AmctPanel::refreshInitial() {
    const QStringList differences = m_guide.differences();
    QString text;
    if (differences.isEmpty()) {
        text =
            tr("AMCT's initial configuration: inputs of layers with weights in 8 bits by IFMR; weights by "
               "ARQ, per channel.");
    } else {
        text = tr("The steps are the same for any configuration. AMCT's default differs from the current "
                  "one:") +
               QLatin1Char('\n') + differences.mid(0, kDifferencesShown).join(QLatin1Char('\n'));
        if (differences.size() > kDifferencesShown)
            text += QLatin1Char('\n') + tr("and %1 more").arg(differences.size() - kDifferencesShown);
    }
    m_initialText->setText(text);
    m_initialText->setToolTip(differences.size() > kDifferencesShown ? differences.join(QLatin1Char('\n'))
                                                                     : QString());
    m_usePreset->setVisible(!differences.isEmpty());
}

void AmctPanel::buildSkip(QVBoxLayout* rows) {
    addText(rows, tr("Layers that AMCT's documentation considers sensitive. Skipped layers stay in float."));
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
        CandidateRow& candidate = m_candidates[i];
        auto* row = new QHBoxLayout;
        row->setSpacing(fontMetrics().height() / 2);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(0);
        candidate.title = makeLabel({}, "");
        candidate.note = makeLabel({}, "muted", 0.88);
        candidate.select = makeLink(tr("Select"), tr("Selects these layers in the graph and the table"));
        candidate.skip = new QPushButton(tr("Skip"));
        texts->addWidget(candidate.title);
        texts->addWidget(candidate.note);
        row->addLayout(texts, 1);
        row->addWidget(candidate.select);
        row->addWidget(candidate.skip);
        rows->addLayout(row);
        const auto present = [this, i]() -> std::vector<NodeId> {
            return i < m_guide.candidates().size() ? m_guide.candidates()[i].quantized
                                                   : std::vector<NodeId>();
        };
        connect(candidate.select, &QPushButton::clicked, this, [this, present] {
            if (const auto layers = present(); !layers.empty()) Q_EMIT layersChosen(layers);
        });
        connect(candidate.skip, &QPushButton::clicked, this, [this, present] {
            if (const auto layers = present(); !layers.empty())
                m_document->edit(skipLayers(m_document->config(), namesOf(*m_document->graph(), layers)));
        });
    }
}

void AmctPanel::refreshSkip() {
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
        const SkipCandidates none{static_cast<SkipReason>(i), {}, 0, 0};
        const SkipCandidates& candidates = i < m_guide.candidates().size() ? m_guide.candidates()[i] : none;
        const CandidateRow& row = m_candidates[i];
        const QString title = candidateTitle(candidates.reason);
        row.title->setText(title);
        for (QLabel* label : {row.title, row.note}) label->setToolTip(candidateMeaning(candidates));
        const std::size_t open = candidates.quantized.size(), inFloat = candidates.inFloat;
        row.note->setText(open == 0 && inFloat == 0 ? tr("none")
                          : open == 0               ? tr("%1, in float \u2713").arg(layersText(inFloat))
                          : inFloat == 0            ? layersText(open)
                                         : tr("%1, and %2 in float").arg(layersText(open)).arg(inFloat));
        row.select->setEnabled(open > 0);
        row.skip->setEnabled(open > 0);
        row.select->setAccessibleName(tr("Select: %1").arg(title));
        row.skip->setAccessibleName(tr("Skip: %1").arg(title));
    }
}

void AmctPanel::buildParameters(QVBoxLayout* rows) {
    addText(rows, tr("How activation ranges and weight scales are determined: activation_quant_params and "
                     "weight_quant_params of AMCT's file."));
    auto* links = new QHBoxLayout;
    auto* ranges =
        makeLink(tr("Ranges\u2026"),
                 tr("Percentiles and search of IFMR and bins of HFMG, in the Calibration section"));
    auto* scales = makeLink(tr("Weight Scales\u2026"), tr("ARQ and granularity, in the Scheme section"));
    links->addWidget(ranges);
    links->addWidget(scales);
    links->addStretch(1);
    rows->addLayout(links);
    connect(ranges, &QPushButton::clicked, this, [this] { Q_EMIT tuningRequested(TuningPlace::Ranges); });
    connect(scales, &QPushButton::clicked, this,
            [this] { Q_EMIT tuningRequested(TuningPlace::WeightScales); });
    m_variants = new QVBoxLayout;
    m_variants->setSpacing(fontMetrics().height() / 5);
    rows->addLayout(m_variants);
    m_try = new QPushButton;
    m_try->setToolTip(
        tr("Evaluates them one by one on all evaluation samples without changing the current "
           "configuration; an edit stops it"));
    m_tryText = makeLabel({}, "faint", 0.92);
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_try);
    bottom->addWidget(m_tryText, 1);
    rows->addLayout(bottom);
    connect(m_try, &QPushButton::clicked, this,
            [this] { m_guide.trying() ? m_guide.stopTrying() : m_guide.tryVariants(); });
}

void AmctPanel::refreshParameters() {
    const std::size_t untried = m_guide.state().untried, all = m_guide.variants().size();
    const bool ready = m_document->hasModel() && m_document->evaluation() && !m_document->evaluating();
    m_try->setText(m_guide.trying() ? tr("Stop") : tr("Try Variants"));
    m_try->setEnabled(m_guide.trying() || (ready && untried > 0));
    m_tryText->setText(m_guide.trying() ? tr("%1 of %2\u2026").arg(all - untried + 1).arg(all)
                       : untried == 0   ? tr("all evaluated")
                                        : QString());

    const auto present = m_guide.numberOf(m_document->config());
    QString shown = present ? amctNumberText(*present) : QString();
    for (const AmctVariant& variant : m_guide.variants()) {
        const auto number = m_guide.numberOf(variant.edit.next);
        shown += variant.title +
                 (number                             ? amctNumberText(*number)
                  : m_guide.tried(variant.edit.next) ? QStringLiteral("x")
                                                     : QString()) +
                 QLatin1Char('\n');
        shown += number && m_guide.target().met(*number) ? QStringLiteral("good") : QString();
    }
    if (std::exchange(m_variantsShown, shown) == shown) return;
    clearLayout(m_variants);
    for (const AmctVariant& variant : m_guide.variants()) {
        const auto number = m_guide.numberOf(variant.edit.next);
        auto* row = new QHBoxLayout;
        row->setSpacing(fontMetrics().height() * 2 / 3);
        auto* title = new ElidedLabel(variant.title, Qt::ElideRight);
        title->setToolTip(variant.why);
        const QString text = number                             ? amctNumberText(*number)
                             : m_guide.tried(variant.edit.next) ? tr("cannot be evaluated")
                                                                : QStringLiteral("\u2013");
        auto* use = makeLink(tr("Use"), tr("Applies this variant and evaluates it"));
        use->setAccessibleName(tr("Use: %1").arg(variant.title));
        row->addWidget(title, 1);
        const bool better = number && present && amctGain(*number, *present) > 0;
        row->addWidget(makeLabel(text, number && m_guide.target().met(*number) ? "good"
                                       : better                                ? ""
                                                                               : "muted"));
        row->addWidget(use);
        m_variants->addLayout(row);
        // The configuration may have changed since the row was built, so the variant is looked up.
        connect(use, &QPushButton::clicked, this, [this, title = variant.title] {
            for (const AmctVariant& now : m_guide.variants())
                if (now.title == title) return static_cast<void>(m_document->edit(now.edit));
        });
    }
}

}  // namespace quantloupe::ui
