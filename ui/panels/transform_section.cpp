// SPDX-License-Identifier: Apache-2.0
#include "panels/transform_section.h"

#include <algorithm>

#include "config/config_json.h"
#include "config/presets.h"
#include "document/metric.h"
#include "style/choice_texts.h"
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
    : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Transforms"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("transforms"));

    m_simplify = new ToggleSwitch(tr("Simplify"));
    m_simplify->setToolTip(tr("Evaluates constant expressions and removes no-op and unused operators"));
    rows->addWidget(m_simplify);
    m_fold = new ToggleSwitch(tr("Fold batch norm"));
    m_fold->setToolTip(tr("Folds batch norms into the layers before or after them"));
    rows->addWidget(remarkedRow(m_fold, nullptr, m_foldCount));
    m_relu6 = new ChoiceBox(tr("Replace ReLU6 with ReLU"));
    m_relu6->addChoice(tr("keep"), tr("Keep every ReLU6"));
    m_relu6->addChoice(tr("between"), tr("Replace ReLU6 between two layers that can be equalized"));
    m_relu6->addChoice(tr("all"), tr("Replace every ReLU6"));
    m_relu6->setToolTip(
        tr("Scales can be moved through a ReLU but not through a ReLU6, so equalization needs the "
           "replacement. It changes the float network: watch the drift"));
    rows->addWidget(remarkedRow(makeLabel(tr("ReLU6 \u2192 ReLU"), "muted"), m_relu6, m_relu6Count));
    buildEqualization(rows);
    m_highBias = new ToggleSwitch(tr("High-bias fold"));
    m_highBias->setToolTip(
        tr("Moves large biases into the next layer; needs batch norm folding and equalization"));
    rows->addWidget(m_highBias);
    m_equalizeModel = new QPushButton(tr("Use AIMET's equalize_model"));
    m_equalizeModel->setProperty("link", true);
    m_equalizeModel->setToolTip(
        tr("Applies the steps of AIMET's equalize_model in its order: batch norm folding, ReLU6 between "
           "convolutions to ReLU, one pass of cross-layer equalization, high-bias fold"));
    rows->addWidget(m_equalizeModel, 0, Qt::AlignLeft);
    observe();
    refresh();
}

void TransformSection::buildEqualization(QVBoxLayout* rows) {
    const int unit = fontMetrics().height();
    m_profile = new ChoiceBox(tr("Cross-layer equalization"));
    for (const auto& text : equalizationTexts()) m_profile->addChoice(text.name(), text.meaning());
    m_profile->setToolTip(
        tr("Rescales neighboring layers so that the weight ranges of their channels become similar; choose "
           "the algorithm"));
    rows->addWidget(remarkedRow(makeLabel(tr("Equalize"), "muted"), m_profile, m_sets));
    m_options = new QWidget;
    auto* options = new QVBoxLayout(m_options);
    options->setContentsMargins(unit * 4 / 5, 0, 0, 0);
    options->setSpacing(unit / 4);
    m_adaptive = new ToggleSwitch(tr("Until converged"));
    m_adaptive->setToolTip(tr("As many passes as needed, instead of a fixed number"));
    options->addWidget(m_adaptive);
    m_steps = new NumberField(tr("Passes"));
    m_stepsRow =
        makeRow(tr("Passes"), m_steps, tr("Passes over all equalization groups, 0 to 1000; AIMET does one"));
    options->addWidget(m_stepsRow);
    m_rest = new NumberField(tr("Convergence threshold"));
    m_restRow = makeRow(tr("Convergence threshold"), m_rest,
                        tr("Stops after a pass whose change is below this value"));
    options->addWidget(m_restRow);
    m_threshold = new NumberField(tr("Weight threshold"));
    m_thresholdRow = makeRow(tr("Weight threshold"), m_threshold,
                             tr("Channels of a pair whose ranges add up to less than this are not changed"));
    options->addWidget(m_thresholdRow);
    m_appendBias = new ToggleSwitch(tr("Include biases in the ranges"));
    auto* biasRow = new QHBoxLayout;
    m_biasRow = m_appendBias;
    biasRow->addWidget(m_appendBias);
    biasRow->addStretch(1);
    options->addLayout(biasRow);
    m_excludeSkipped = new ToggleSwitch(tr("Exclude layers kept in float"));
    m_excludeSkipped->setToolTip(tr("Layers kept in float are not equalized"));
    options->addWidget(m_excludeSkipped);
    rows->addWidget(m_options);
}

void TransformSection::observe() {
    connect(m_fold, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.foldBatchNorm = on;
        edit(on ? tr("Fold batch norm") : tr("Keep batch norm"), next);
    });
    connect(m_simplify, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.simplify = on;
        edit(on ? tr("Simplify") : tr("Do not simplify"), next);
    });
    connect(m_relu6, &QComboBox::activated, this, [this](int index) {
        TransformOptions next = m_document->config().transforms;
        next.replaceRelu6 = static_cast<ReplaceRelu6>(index);
        edit(index == 0 ? tr("Keep ReLU6") : tr("Replace ReLU6"), next);
    });
    connect(m_profile, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = equalizationTexts()[static_cast<std::size_t>(index)];
        TransformOptions next = m_document->config().transforms;
        next.equalization.profile = chosen.value;
        edit(chosen.value == EqualizationProfile::Off ? tr("Do not equalize")
                                                      : tr("Equalize as %1").arg(chosen.name()),
             next);
    });
    connect(m_adaptive, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.equalization.steps = on ? -1 : 1;
        edit(on ? tr("Equalize until converged") : tr("One pass of equalization"), next);
    });
    connect(m_appendBias, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.equalization.appendBias = on;
        edit(on ? tr("Include biases in equalization") : tr("Equalize by weights only"), next);
    });
    connect(m_excludeSkipped, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.equalization.excludeSkipped = on;
        edit(on ? tr("Equalize quantized layers only") : tr("Equalize layers in float, too"), next);
    });
    connect(m_steps, &NumberField::entered, this,
            [this](const QString& text) { enter(m_steps, tr("Equalization passes"), "steps", text); });
    connect(m_rest, &NumberField::entered, this, [this](const QString& text) {
        enter(m_rest, tr("Equalization convergence threshold"), "total_layer_diff_threshold", text);
    });
    connect(m_threshold, &NumberField::entered, this, [this](const QString& text) {
        enter(m_threshold, tr("Equalization threshold"), "weight_threshold", text);
    });
    connect(m_equalizeModel, &QPushButton::clicked, this, [this] {
        edit(tr("AIMET's equalize_model"), aimetEqualizeModel(m_document->config().transforms));
    });
    connect(m_highBias, &ToggleSwitch::clicked, this, [this](bool on) {
        TransformOptions next = m_document->config().transforms;
        next.highBiasFold = on;
        edit(on ? tr("High-bias fold") : tr("No high-bias fold"), next);
    });
    connect(m_document, &Document::configChanged, this, &TransformSection::refresh);
    connect(m_document, &Document::evaluationChanged, this, &TransformSection::refresh);
}

void TransformSection::edit(const QString& text, const TransformOptions& transforms) {
    ConfigEdit next{m_document->config(), text, {}};
    next.next.transforms = transforms;
    if (!m_document->edit(next)) refresh();
}

void TransformSection::enter(NumberField* field, const QString& what, const char* key, const QString& value) {
    try {
        ConfigEdit next{m_document->config(), QStringLiteral("%1: %2").arg(what, value), {}};
        setConfigKey(next.next, std::string("transforms.equalization.") + key, value.toStdString());
        m_document->edit(next);
    } catch (const std::exception& error) {
        field->setComplaint(QString::fromUtf8(error.what()));
    }
}

void TransformSection::refreshEqualization() {
    const EqualizationOptions& options = m_document->config().transforms.equalization;
    const EqualizationProfile profile = options.profile;
    const bool quark = profile == EqualizationProfile::Quark;
    m_profile->setCurrentIndex(indexOf(equalizationTexts(), profile));
    m_options->setVisible(profile != EqualizationProfile::Off);
    m_adaptive->setChecked(options.steps < 0);
    m_stepsRow->setVisible(options.steps >= 0);
    m_steps->setValue(QString::number(options.steps));
    m_restRow->setVisible(options.steps < 0 || quark);
    m_rest->setValue(numberText(options.totalLayerDiffThreshold));
    m_thresholdRow->setVisible(quark);
    m_threshold->setValue(numberText(options.weightThreshold));
    m_biasRow->setVisible(profile != EqualizationProfile::Aimet);
    m_appendBias->setChecked(options.appendBias);
    m_excludeSkipped->setChecked(options.excludeSkipped);
    const Evaluation* evaluation = m_document->evaluation().get();
    m_sets->setText(evaluation && profile != EqualizationProfile::Off
                        ? tr("%1 groups").arg(evaluation->equalizationSets)
                        : QString());
    m_sets->setVisible(!m_sets->text().isEmpty());  // an empty one would take room
}

void TransformSection::refresh() {
    const TransformOptions& transforms = m_document->config().transforms;
    setEnabled(m_document->hasModel());
    m_simplify->setChecked(transforms.simplify);
    m_fold->setChecked(transforms.foldBatchNorm);
    m_relu6->setCurrentIndex(static_cast<int>(transforms.replaceRelu6));
    m_highBias->setChecked(transforms.highBiasFold);
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
            tip += tr("\n%1 after them: ").arg(QString::fromLatin1(after->title)) + formatRate(after->value);
        if (prepared.agreement) tip += tr("\nagreement: ") + formatRate(*prepared.agreement);
        if (prepared.maxAbsDiff)
            tip += tr("\nlargest difference of an output: %1").arg(*prepared.maxAbsDiff, 0, 'g', 3);
    }
    m_heading->setRemark(drift, tip);
}

}  // namespace quantloupe::ui
