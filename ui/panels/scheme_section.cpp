// SPDX-License-Identifier: Apache-2.0
#include "panels/scheme_section.h"

#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "config/presets.h"
#include "style/choice_texts.h"

namespace quantloupe::ui {

namespace {
constexpr std::array kWeightBits{2, 3, 4, 5, 6, 7, 8, 16};
constexpr std::array kActivationBits{4, 6, 8, 12, 16};

template <std::size_t N>
QStringList textsOf(const std::array<int, N>& numbers) {
    QStringList texts;
    for (const int n : numbers) texts.append(QString::number(n));
    return texts;
}

template <std::size_t N>
int placeOf(const std::array<int, N>& numbers, int wanted) {
    const auto found = std::ranges::find(numbers, wanted);
    return found == numbers.end() ? -1 : static_cast<int>(found - numbers.begin());
}
}  // namespace

template <typename Change>
void SchemeSection::edit(const QString& text, Change change, int mergeKey) {
    if (!m_document->edit(changeConfig(m_document->config(), text, change, mergeKey))) refresh();
}

SchemeSection::SchemeSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    build();
    observe();
    refresh();
}

ToggleSwitch* SchemeSection::addSwitch(QLayout* layout, const QString& name, const QString& toolTip,
                                       const QString& off, Flag flag) {
    auto* control = new ToggleSwitch(name);
    control->setToolTip(toolTip);
    layout->addWidget(control);
    m_switches.append({control, flag});
    connect(control, &ToggleSwitch::clicked, this, [this, name, off, flag](bool on) {
        edit(on ? name : off, [=](QuantizationConfig& c) { flag(c) = on; });
    });
    return control;
}

void SchemeSection::build() {
    const int unit = fontMetrics().height();
    m_heading = new SectionHeading(tr("Scheme"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("scheme"));
    rows->setSpacing(unit / 2);

    m_preset = new ChoiceBox(tr("Preset"));
    for (const PresetInfo& preset : presets())
        m_preset->addChoice(QString::fromStdString(preset.name), QString::fromStdString(preset.description));
    m_preset->setMaxVisibleItems(30);
    rows->addWidget(makeRow(tr("Preset"), m_preset));
    m_workflow = new QPushButton(tr("AMCT Tuning Workflow\u2026"));
    m_workflow->setProperty("link", true);
    m_workflow->setToolTip(tr("The five steps of AMCT's manual tuning as a checklist"));
    rows->addWidget(m_workflow, 0, Qt::AlignLeft);
    connect(m_workflow, &QPushButton::clicked, this, &SchemeSection::workflowRequested);
    m_bits = new SegmentedControl(textsOf(kWeightBits));
    rows->addWidget(makeRow(tr("Weight bits"), m_bits));
    m_activationBits = new SegmentedControl(textsOf(kActivationBits));
    rows->addWidget(makeRow(tr("Activation bits"), m_activationBits));
    m_own = makeLabel({}, "muted", 0.92);
    m_own->setWordWrap(true);
    rows->addWidget(m_own);
    addSwitch(rows, tr("Weights per channel"), tr("One scale per output channel instead of one per tensor"),
              tr("Weights per tensor"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.perChannel; });
    addSwitch(rows, tr("Symmetric activations"),
              tr("Zero point 0: simpler hardware, but half of the range is wasted after a ReLU"),
              tr("Affine activations"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.activation.symmetric; });

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
    m_weightMethod = new ChoiceBox(tr("Weight scale method"));
    for (const auto& text : weightMethodTexts()) m_weightMethod->addChoice(text.name(), text.meaning());
    points->addWidget(makeRow(tr("Weight scales by"), m_weightMethod));
    m_biasBits = new ChoiceBox(tr("Bias bits"));
    for (const auto& text : biasBitsTexts()) m_biasBits->addChoice(text.name(), text.meaning());
    points->addWidget(makeRow(tr("Biases"), m_biasBits));
    m_placement = new ChoiceBox(tr("Quantized tensors"));
    for (const auto& text : placementTexts()) m_placement->addChoice(text.name(), text.meaning());
    points->addWidget(makeRow(tr("Tensors"), m_placement));
    m_operators = new ChoiceBox(tr("Which operators are quantized"));
    for (const auto& text : operatorSetTexts()) m_operators->addChoice(text.name(), text.meaning());
    points->addWidget(
        makeRow(tr("Operators"), m_operators, tr("Operators quantized besides weighted layers")));
    m_rounding = new ChoiceBox(tr("How values between two codes are rounded"));
    for (const auto& text : tieRoundingTexts()) m_rounding->addChoice(text.name(), text.meaning());
    points->addWidget(makeRow(tr("Rounding"), m_rounding));
    m_products = addSwitch(points, tr("Gemm and MatMul also per channel"),
                           tr("When weights are per channel; AMCT does this for convolutions only"),
                           tr("Gemm and MatMul per tensor"), [](QuantizationConfig& c) -> bool& {
                               return c.quantization.weight.perChannelProducts;
                           });
    addSwitch(points, tr("Power-of-two weight scales"), tr("Scales that can be applied as bit shifts"),
              tr("Any weight scales"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.powerOfTwo; });
    addSwitch(points, tr("Power-of-two activation scales"), tr("Scales that can be applied as bit shifts"),
              tr("Any activation scales"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.activation.powerOfTwo; });
    addSwitch(points, tr("Symmetric weights"), tr("Zero point 0; otherwise the range extended to include 0"),
              tr("Affine weights"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.symmetric; });
    m_restricted = addSwitch(
        points, tr("Restricted range"), tr("Symmetric codes without the lowest one: \u22127 to 7 for 4 bits"),
        tr("Full range"), [](QuantizationConfig& c) -> bool& { return c.quantization.weight.restricted; });
    addSwitch(points, tr("Signed weights"), tr("Codes include negative values"), tr("Unsigned weights"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.weight.isSigned; });
    addSwitch(points, tr("Signed activations"), tr("Codes include negative values"),
              tr("Unsigned activations"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.activation.isSigned; });
}

void SchemeSection::observe() {
    connect(m_preset, &QComboBox::activated, this, [this](int index) {
        const std::string name = presets()[static_cast<std::size_t>(index)].name;
        if (!m_document->edit(applyPreset(m_document->config(), name))) refresh();
    });
    connect(m_bits, &SegmentedControl::chosen, this, [this](int index) {
        const int chosen = kWeightBits[static_cast<std::size_t>(index)];
        edit(
            tr("%1-bit weights").arg(chosen),
            [chosen](QuantizationConfig& c) { c.quantization.weight.bits = chosen; }, kMergeWeightBits);
    });
    connect(m_activationBits, &SegmentedControl::chosen, this, [this](int index) {
        const int chosen = kActivationBits[static_cast<std::size_t>(index)];
        edit(
            tr("%1-bit activations").arg(chosen),
            [chosen](QuantizationConfig& c) { c.quantization.activation.bits = chosen; },
            kMergeActivationBits);
    });
    connect(m_weightMethod, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = weightMethodTexts()[static_cast<std::size_t>(index)];
        edit(tr("Weight scales by %1").arg(chosen.name()),
             [&](QuantizationConfig& c) { c.quantization.weight.method = chosen.value; });
    });
    connect(m_biasBits, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = biasBitsTexts()[static_cast<std::size_t>(index)];
        edit(tr("Biases: %1").arg(chosen.name()),
             [&](QuantizationConfig& c) { c.quantization.biasBits = chosen.value; });
    });
    connect(m_placement, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = placementTexts()[static_cast<std::size_t>(index)];
        edit(tr("Quantize %1").arg(chosen.name()),
             [&](QuantizationConfig& c) { c.quantization.placement = chosen.value; });
    });
    connect(m_operators, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = operatorSetTexts()[static_cast<std::size_t>(index)];
        edit(tr("Quantize operators: %1").arg(chosen.name()),
             [&](QuantizationConfig& c) { c.quantization.operators = chosen.value; });
    });
    connect(m_rounding, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = tieRoundingTexts()[static_cast<std::size_t>(index)];
        edit(tr("Rounding: %1").arg(chosen.name()),
             [&](QuantizationConfig& c) { c.quantization.rounding = chosen.value; });
    });
    connect(m_document, &Document::configChanged, this, &SchemeSection::refresh);
    connect(m_document, &Document::modelChanged, this, &SchemeSection::refresh);
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
    m_bits->setCurrentIndex(placeOf(kWeightBits, config.quantization.weight.bits));
    m_activationBits->setCurrentIndex(placeOf(kActivationBits, config.quantization.activation.bits));
    m_weightMethod->setCurrentIndex(indexOf(weightMethodTexts(), config.quantization.weight.method));
    m_biasBits->setCurrentIndex(indexOf(biasBitsTexts(), config.quantization.biasBits));
    m_placement->setCurrentIndex(indexOf(placementTexts(), config.quantization.placement));
    m_operators->setCurrentIndex(indexOf(operatorSetTexts(), config.quantization.operators));
    m_rounding->setCurrentIndex(indexOf(tieRoundingTexts(), config.quantization.rounding));
    QuantizationConfig copy = config;
    for (const auto& [control, flag] : std::as_const(m_switches)) control->setChecked(flag(copy));
    m_restricted->setEnabled(config.quantization.weight.symmetric);
    m_products->setEnabled(config.quantization.weight.perChannel);
    const QuantizationOptions standard;
    const QuantizationOptions& now = config.quantization;
    const int different = (now.weight.method != standard.weight.method) +
                          (now.biasBits != standard.biasBits) + (now.placement != standard.placement) +
                          (now.operators != standard.operators) + (now.rounding != standard.rounding) +
                          !now.weight.perChannelProducts + now.weight.powerOfTwo + now.activation.powerOfTwo +
                          !now.weight.symmetric + !now.weight.restricted + !now.weight.isSigned +
                          !now.activation.isSigned;
    m_more->setRemark(different == 0 ? QString() : tr("%1 set").arg(different));
}

}  // namespace quantloupe::ui
