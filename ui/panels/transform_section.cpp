// SPDX-License-Identifier: Apache-2.0
#include "panels/transform_section.h"

#include <algorithm>

#include "config/presets.h"
#include "document/metric.h"
#include "results/task_metric.h"
#include "widgets/aligned_rows.h"

namespace quantloupe::ui {

namespace {

QWidget* remarkedRow(QWidget* left, QWidget* middle, QLabel*& remark) {
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(row->fontMetrics().height() / 2);
    line->addWidget(left);
    if (middle) left->setObjectName(kRowLabel);
    if (middle) line->addWidget(middle, 1);
    if (!middle) line->addStretch(1);
    remark = makeLabel({}, "faint", 0.92);
    line->addWidget(remark);
    return row;
}

}  // namespace

TransformSection::TransformSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document), m_controls(new OptionControls(document, this)) {
    m_heading = new SectionHeading(tr("Transforms"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("transforms"));
    rows->addWidget(m_controls->addSwitch(
        tr("Simplify"), tr("Evaluates constant expressions and removes no-op and unused operators"),
        tr("Simplify"), tr("Do not simplify"),
        [](QuantizationConfig& c) -> bool& { return c.transforms.simplify; }));
    auto* fold = m_controls->addSwitch(
        tr("Fold batch norm"), tr("Folds batch norms into the layers before or after them"),
        tr("Fold batch norm"), tr("Keep batch norm"),
        [](QuantizationConfig& c) -> bool& { return c.transforms.foldBatchNorm; });
    rows->addWidget(remarkedRow(fold, nullptr, m_foldCount));
    auto* relu6 = m_controls->addChoice(
        tr("Replace ReLU6 with ReLU"), replaceRelu6Texts(),
        [](QuantizationConfig& c) -> ReplaceRelu6& { return c.transforms.replaceRelu6; },
        [](const auto& chosen) {
            return chosen.value == ReplaceRelu6::None ? tr("Keep ReLU6") : tr("Replace ReLU6");
        });
    relu6->setToolTip(
        tr("Scales can be moved through a ReLU but not through a ReLU6, so equalization needs the "
           "replacement. It changes the float network: watch the drift"));
    rows->addWidget(remarkedRow(makeLabel(tr("ReLU6 \u2192 ReLU"), "muted"), relu6, m_relu6Count));
    buildEqualization(rows);
    rows->addWidget(m_controls->addSwitch(
        tr("High-bias fold"),
        tr("Moves large biases into the next layer; needs batch norm folding and equalization"),
        tr("High-bias fold"), tr("No high-bias fold"),
        [](QuantizationConfig& c) -> bool& { return c.transforms.highBiasFold; }));
    auto* equalizeModel = makeLink(
        tr("Use AIMET's equalize_model"),
        tr("Applies the steps of AIMET's equalize_model in its order: batch norm folding, ReLU6 between "
           "convolutions to ReLU, one pass of cross-layer equalization, high-bias fold"));
    rows->addWidget(equalizeModel, 0, Qt::AlignLeft);
    connect(equalizeModel, &QPushButton::clicked, this, [this] {
        m_document->edit(
            changeConfig(m_document->config(), tr("AIMET's equalize_model"),
                         [](QuantizationConfig& c) { c.transforms = aimetEqualizeModel(c.transforms); }));
    });
    connect(m_document, &Document::configChanged, this, &TransformSection::refresh);
    connect(m_document, &Document::evaluationChanged, this, &TransformSection::refresh);
    refresh();
}

void TransformSection::buildEqualization(QVBoxLayout* rows) {
    auto* profile = m_controls->addChoice(
        tr("Cross-layer equalization"), equalizationTexts(),
        [](QuantizationConfig& c) -> EqualizationProfile& { return c.transforms.equalization.profile; },
        [](const auto& chosen) {
            return chosen.value == EqualizationProfile::Off ? tr("Do not equalize")
                                                            : tr("Equalize as %1").arg(chosen.name());
        });
    profile->setToolTip(
        tr("Rescales neighboring layers so that the weight ranges of their channels become similar; choose "
           "the algorithm"));
    rows->addWidget(remarkedRow(makeLabel(tr("Equalize"), "muted"), profile, m_sets));
    m_options = new QWidget;
    auto* options = new QVBoxLayout(m_options);
    const int unit = fontMetrics().height();
    options->setContentsMargins(unit * 4 / 5, 0, 0, 0);
    options->setSpacing(unit / 4);
    buildEqualizationOptions(options);
    rows->addWidget(m_options);
}

void TransformSection::buildEqualizationOptions(QVBoxLayout* rows) {
    constexpr int kUntilConverged = -1;
    rows->addWidget(m_controls->addSwitch(
        tr("Until converged"), tr("As many passes as needed, instead of a fixed number"),
        tr("Equalize until converged"), tr("One pass of equalization"),
        [](QuantizationConfig& c) -> int& { return c.transforms.equalization.steps; }, kUntilConverged, 1));
    m_stepsRow = makeRow(tr("Passes"),
                         m_controls->addField<int>(
                             tr("Passes"), "transforms.equalization.steps", tr("Equalization passes: %1"),
                             [](QuantizationConfig& c) -> int& { return c.transforms.equalization.steps; }),
                         tr("Passes over all equalization groups, 0 to 1000; AIMET does one"));
    rows->addWidget(m_stepsRow);
    m_restRow = makeRow(tr("Convergence threshold"),
                        m_controls->addField<double>(
                            tr("Convergence threshold"), "transforms.equalization.total_layer_diff_threshold",
                            tr("Equalization convergence threshold: %1"),
                            [](QuantizationConfig& c) -> double& {
                                return c.transforms.equalization.totalLayerDiffThreshold;
                            }),
                        tr("Stops after a pass whose change is below this value"));
    rows->addWidget(m_restRow);
    m_thresholdRow = makeRow(
        tr("Weight threshold"),
        m_controls->addField<double>(
            tr("Weight threshold"), "transforms.equalization.weight_threshold",
            tr("Equalization weight threshold: %1"),
            [](QuantizationConfig& c) -> double& { return c.transforms.equalization.weightThreshold; }),
        tr("Channels of a pair whose ranges add up to less than this are not changed"));
    rows->addWidget(m_thresholdRow);
    m_appendBias = m_controls->addSwitch(
        tr("Include biases in the ranges"), {}, tr("Include biases in equalization"),
        tr("Equalize by weights only"),
        [](QuantizationConfig& c) -> bool& { return c.transforms.equalization.appendBias; });
    rows->addWidget(m_appendBias);
    rows->addWidget(m_controls->addSwitch(
        tr("Exclude layers kept in float"), tr("Layers kept in float are not equalized"),
        tr("Equalize quantized layers only"), tr("Equalize layers in float, too"),
        [](QuantizationConfig& c) -> bool& { return c.transforms.equalization.excludeSkipped; }));
}

void TransformSection::refreshEqualization() {
    const EqualizationOptions& options = m_document->config().transforms.equalization;
    const EqualizationProfile profile = options.profile;
    const bool quark = profile == EqualizationProfile::Quark;
    m_options->setVisible(profile != EqualizationProfile::Off);
    m_stepsRow->setVisible(options.steps >= 0);
    m_restRow->setVisible(options.steps < 0 || quark);
    m_thresholdRow->setVisible(quark);
    m_appendBias->setVisible(profile != EqualizationProfile::Aimet);
    const Evaluation* evaluation = m_document->evaluation().get();
    m_sets->setText(evaluation && profile != EqualizationProfile::Off
                        ? tr("%1 groups").arg(evaluation->equalizationSets)
                        : QString());
    m_sets->setVisible(!m_sets->text().isEmpty());  // an empty one would take room
}

void TransformSection::refresh() {
    const TransformOptions& transforms = m_document->config().transforms;
    setEnabled(m_document->hasModel());
    refreshEqualization();

    const Evaluation* evaluation = m_document->evaluation().get();
    const auto& layers = m_document->layers();
    const auto clips =
        std::ranges::count_if(layers, [](const LayerResult& layer) { return layer.op == "Clip"; });
    const auto norms = std::ranges::count_if(
        layers, [](const LayerResult& layer) { return layer.op == "BatchNormalization"; });
    // Factors and shifts per channel are folded, too.
    const std::size_t folded = evaluation ? evaluation->foldedBatchNorms : 0;
    m_foldCount->setText(!evaluation                ? QString()
                         : folded > 0               ? tr("%1 folded").arg(folded)
                         : norms > 0                ? tr("%1 present").arg(norms)
                         : transforms.foldBatchNorm ? tr("none here")
                                                    : QString());
    m_relu6Count->setText(!evaluation  ? QString()
                          : clips == 0 ? tr("none here")
                                       : tr("%1 of %2").arg(evaluation->replacedClips).arg(clips));
    refreshDrift();
}

void TransformSection::refreshDrift() {
    const Evaluation* evaluation = m_document->evaluation().get();
    QString drift, tip;
    if (evaluation && evaluation->prepared) {
        const Accuracy& prepared = *evaluation->prepared;
        const bool comparable = evaluation->floating && evaluation->floating->samples == prepared.samples;
        const auto before = comparable ? taskRate(*evaluation->floating) : std::nullopt;
        const auto after = taskRate(prepared);
        if (before && after && !after->relative() && before->value != after->value)
            drift = tr("float drift %1 points").arg(formatPoints(after->value - before->value));
        else if (prepared.maxAbsDiff)
            drift = tr("float drift %1").arg(QString::number(*prepared.maxAbsDiff, 'g', 2));
        tip = tr("How much the transforms alone change the float network");
        if (after && !after->relative())
            tip +=
                tr("\n%1 after them: ").arg(QString::fromLatin1(after->title())) + formatRate(after->value);
        if (prepared.agreement) tip += tr("\nagreement: ") + formatRate(*prepared.agreement);
        if (prepared.maxAbsDiff)
            tip += tr("\nlargest difference of an output: %1").arg(*prepared.maxAbsDiff, 0, 'g', 3);
    }
    m_heading->setRemark(drift, tip);
}

}  // namespace quantloupe::ui
