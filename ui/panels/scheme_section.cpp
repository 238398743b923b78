// SPDX-License-Identifier: Apache-2.0
#include "panels/scheme_section.h"

#include <algorithm>

#include "config/presets.h"

namespace quantloupe::ui {

SchemeSection::SchemeSection(Document* document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_basic(new OptionControls(document, this)),
      m_advanced(new OptionControls(document, this)) {
    const int unit = fontMetrics().height();
    m_heading = new SectionHeading(tr("Scheme"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("scheme"));
    rows->setSpacing(unit / 2);
    buildPresets(rows);
    buildBasic(rows);

    m_more = new SectionHeading(tr("Advanced"));
    auto* finer = new QWidget;
    auto* points = new QVBoxLayout(finer);
    points->setContentsMargins(unit * 4 / 5, 0, 0, 0);
    points->setSpacing(unit / 3);
    auto* more = new QHBoxLayout;  // indented: it belongs to the section
    more->addSpacing(unit * 4 / 5);
    more->addWidget(m_more);
    rows->addLayout(more);
    rows->addWidget(finer);
    m_more->setBody(finer, QStringLiteral("scheme.finer"), false);
    buildAdvanced(points);
    connect(m_document, &Document::configChanged, this, &SchemeSection::refresh);
    connect(m_document, &Document::modelChanged, this, &SchemeSection::refresh);
    refresh();
}

void SchemeSection::buildPresets(QVBoxLayout* rows) {
    m_preset = new ChoiceBox(tr("Preset"));
    for (const PresetInfo& preset : presets())
        m_preset->addChoice(QString::fromStdString(preset.name), QString::fromStdString(preset.description));
    m_preset->setMaxVisibleItems(30);
    rows->addWidget(makeRow(tr("Preset"), m_preset));
    connect(m_preset, &QComboBox::activated, this, [this](int index) {
        const std::string name = presets()[static_cast<std::size_t>(index)].name;
        if (!m_document->edit(applyPreset(m_document->config(), name))) refresh();
    });
    m_workflow =
        makeLink(tr("AMCT Workflow\u2026"), tr("The five steps of AMCT's manual tuning as a checklist"));
    rows->addWidget(m_workflow, 0, Qt::AlignLeft);
    connect(m_workflow, &QPushButton::clicked, this, &SchemeSection::workflowRequested);
}

void SchemeSection::buildBasic(QVBoxLayout* rows) {
    rows->addWidget(makeRow(
        tr("Weight bits"),
        m_basic->addNumbers({2, 3, 4, 5, 6, 7, 8, 16}, tr("%1-bit weights"), kMergeWeightBits,
                            [](QuantizationConfig& c) -> int& { return c.quantization.weight.bits; })));
    rows->addWidget(makeRow(
        tr("Activation bits"),
        m_basic->addNumbers({4, 6, 8, 12, 16}, tr("%1-bit activations"), kMergeActivationBits,
                            [](QuantizationConfig& c) -> int& { return c.quantization.activation.bits; })));
    m_own = makeLabel({}, "muted", 0.92);
    m_own->setWordWrap(true);
    rows->addWidget(m_own);
    rows->addWidget(m_basic->addSwitch(
        tr("Weights per channel"), tr("One scale per output channel instead of one per tensor"),
        tr("Weights per channel"), tr("Weights per tensor"),
        [](QuantizationConfig& c) -> bool& { return c.quantization.weight.perChannel; }));
    rows->addWidget(m_basic->addSwitch(
        tr("Symmetric activations"),
        tr("Zero point 0: simpler hardware, but half of the range is wasted after a ReLU"),
        tr("Symmetric activations"), tr("Asymmetric activations"),
        [](QuantizationConfig& c) -> bool& { return c.quantization.activation.symmetric; }));
}

void SchemeSection::buildAdvanced(QVBoxLayout* rows) {
    m_weightMethod = m_advanced->addChoice(
        tr("Weight scale method"), weightMethodTexts(), tr("Weight scales by %1"),
        [](QuantizationConfig& c) -> WeightMethod& { return c.quantization.weight.method; });
    rows->addWidget(makeRow(tr("Weight scales by"), m_weightMethod));
    rows->addWidget(makeRow(
        tr("Biases"),
        m_advanced->addChoice(tr("Bias bits"), biasBitsTexts(), tr("Biases: %1"),
                              [](QuantizationConfig& c) -> int& { return c.quantization.biasBits; })));
    rows->addWidget(makeRow(
        tr("Tensors"),
        m_advanced->addChoice(tr("Quantized tensors"), placementTexts(), tr("Quantize %1"),
                              [](QuantizationConfig& c) -> Placement& { return c.quantization.placement; })));
    rows->addWidget(makeRow(
        tr("Operators"),
        m_advanced->addChoice(tr("Which operators are quantized"), operatorSetTexts(),
                              tr("Quantize operators: %1"),
                              [](QuantizationConfig& c) -> OperatorSet& { return c.quantization.operators; }),
        tr("Operators quantized besides weighted layers")));
    rows->addWidget(
        makeRow(tr("Rounding"),
                m_advanced->addChoice(
                    tr("How values between two codes are rounded"), tieRoundingTexts(), tr("Rounding: %1"),
                    [](QuantizationConfig& c) -> TieRounding& { return c.quantization.rounding; })));
    const auto addSwitch = [&](const QString& name, const QString& toolTip, const QString& off,
                               OptionOf<bool> option) {
        ToggleSwitch* control = m_advanced->addSwitch(name, toolTip, name, off, option);
        rows->addWidget(control);
        return control;
    };
    m_products = addSwitch(tr("Gemm and MatMul also per channel"),
                           tr("When weights are per channel; AMCT does this for convolutions only"),
                           tr("Gemm and MatMul per tensor"), [](QuantizationConfig& c) -> bool& {
                               return c.quantization.weight.perChannelProducts;
                           });
    addSwitch(tr("Power-of-two weight scales"), tr("Scales that can be applied as bit shifts"),
              tr("Any weight scales"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.powerOfTwo; });
    addSwitch(tr("Power-of-two activation scales"), tr("Scales that can be applied as bit shifts"),
              tr("Any activation scales"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.activation.powerOfTwo; });
    addSwitch(tr("Symmetric weights"), tr("Zero point 0; if off, the range is extended to include 0"),
              tr("Asymmetric weights"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.symmetric; });
    m_restricted = addSwitch(
        tr("Restricted range"), tr("Symmetric codes without the lowest one: \u22127 to 7 for 4 bits"),
        tr("Full range"), [](QuantizationConfig& c) -> bool& { return c.quantization.weight.restricted; });
    addSwitch(tr("Signed weights"), tr("Codes include negative values"), tr("Unsigned weights"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.isSigned; });
    addSwitch(tr("Signed activations"), tr("Codes include negative values"), tr("Unsigned activations"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.activation.isSigned; });
}

QWidget* SchemeSection::revealWeightScales() {
    m_heading->setOpen(true);
    m_more->setOpen(true);
    m_weightMethod->setFocus(Qt::ShortcutFocusReason);
    return m_weightMethod;
}

void SchemeSection::refresh() {
    const QuantizationConfig& config = m_document->config();
    setEnabled(m_document->hasModel());
    m_preset->setCurrentText(QString::fromStdString(config.preset));
    m_workflow->setVisible(config.preset.starts_with("amct"));
    for (const PresetInfo& preset : presets())
        if (preset.name == config.preset) m_preset->setToolTip(QString::fromStdString(preset.description));
    m_heading->setRemark(differsFromPreset(config) ? tr("changed") : QString(),
                         tr("Settings differ from the preset"));
    const auto own = std::ranges::count_if(config.layers, [](const auto& entry) {
        const LayerSettings& settings = entry.second;
        return settings.weightBits || settings.activationBits ||
               settings.precision.value_or(Precision::float32()) != Precision::float32();
    });
    m_own->setText(own == 1 ? tr("1 layer has bits of its own, which take precedence.")
                            : tr("%1 layers have bits of their own, which take precedence.").arg(own));
    m_own->setToolTip(tr("To remove a precision, select its layers and choose Layers > Precision > Default"));
    m_own->setVisible(own > 0);
    m_restricted->setEnabled(config.quantization.weight.symmetric);
    m_products->setEnabled(config.quantization.weight.perChannel);
    const int different = m_advanced->changed();
    m_more->setRemark(different == 0 ? QString() : tr("%1 set").arg(different));
}

}  // namespace quantloupe::ui
