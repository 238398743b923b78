// SPDX-License-Identifier: Apache-2.0
#include "panels/scheme_section.h"

#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "config/presets.h"

namespace quantloupe::ui {

namespace {
constexpr std::array kWeightBits{2, 3, 4, 5, 6, 7, 8, 16};
constexpr std::array kActivationBits{4, 6, 8, 12, 16};

struct MethodText {
    CalibrationMethod method;
    const char* name;
    const char* meaning;
};
constexpr MethodText kMethods[] = {
    {CalibrationMethod::MinMax, "min\u2013max", "The smallest and the largest value that was seen"},
    {CalibrationMethod::MovingAverage, "moving average", "Minimum and maximum of each batch, averaged"},
    {CalibrationMethod::Percentile, "percentile", "Cuts off a small fraction of the largest values"},
    {CalibrationMethod::Entropy, "entropy", "The range whose codes keep most of the distribution (KL divergence)"},
    {CalibrationMethod::Mse, "mean squared error", "The range with the least squared error"},
    {CalibrationMethod::TfEnhanced, "TF-enhanced", "AIMET's search for the least rounding and clipping noise"},
    {CalibrationMethod::PowerOfTwoNonOverflow, "power of two, no overflow", "The smallest power of two that clips nothing"},
    {CalibrationMethod::PowerOfTwoMinMse, "power of two, least error", "Quark's choice among five powers of two"},
    {CalibrationMethod::Ifmr, "IFMR", "AMCT's search round the percentile range"},
    {CalibrationMethod::Hfmg, "HFMG", "AMCT's search over a histogram"},
};

template <std::size_t N>
QStringList textsOf(const std::array<int, N>& numbers) {
    QStringList texts;
    for (const int n : numbers) texts.append(QString::number(n));
    return texts;
}

template <std::size_t N>
int indexOf(const std::array<int, N>& numbers, int wanted) {
    const auto found = std::ranges::find(numbers, wanted);
    return found == numbers.end() ? -1 : static_cast<int>(found - numbers.begin());
}
}  // namespace

template <typename Change>
void SchemeSection::edit(const QString& text, Change change, int mergeKey) {
    ConfigEdit next{m_document->config(), text, {}, mergeKey};
    change(next.next);
    if (!m_document->edit(next)) refresh();
}

SchemeSection::SchemeSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit * 3 / 5);
    m_heading = new SectionHeading(QStringLiteral("Scheme"));
    column->addWidget(m_heading);

    m_preset = new QComboBox;
    m_preset->setAccessibleName(QStringLiteral("Preset"));
    for (const PresetInfo& preset : presets()) {
        m_preset->addItem(QString::fromStdString(preset.name));
        m_preset->setItemData(m_preset->count() - 1, QString::fromStdString(preset.description),
                              Qt::ToolTipRole);
    }
    m_preset->setFocusPolicy(Qt::TabFocus);
    column->addWidget(m_preset);

    m_bits = new SegmentedControl(textsOf(kWeightBits));
    auto* bitsRow = new QHBoxLayout;
    bitsRow->setSpacing(unit / 2);
    bitsRow->addWidget(makeLabel(QStringLiteral("Weight bits"), "muted"));
    bitsRow->addWidget(m_bits, 1);
    column->addLayout(bitsRow);

    m_perChannel = new ToggleSwitch(QStringLiteral("Weights per channel"));
    m_perChannel->setToolTip(QStringLiteral("One scale an output channel instead of one a tensor"));
    m_symmetric = new ToggleSwitch(QStringLiteral("Symmetric activations"));
    m_symmetric->setToolTip(
        QStringLiteral("Zero point 0: simpler hardware, half of the range lost after a ReLU"));
    m_activationBits = new SegmentedControl(textsOf(kActivationBits));
    auto* activationRow = new QHBoxLayout;
    activationRow->setSpacing(unit / 2);
    activationRow->addWidget(makeLabel(QStringLiteral("Activation bits"), "muted"));
    activationRow->addWidget(m_activationBits, 1);
    m_method = new QComboBox;
    m_method->setAccessibleName(QStringLiteral("Calibration method"));
    m_method->setFocusPolicy(Qt::TabFocus);
    for (const MethodText& text : kMethods) {
        m_method->addItem(QString::fromUtf8(text.name));
        m_method->setItemData(m_method->count() - 1, QString::fromUtf8(text.meaning), Qt::ToolTipRole);
    }
    auto* methodRow = new QHBoxLayout;
    methodRow->setSpacing(unit / 2);
    methodRow->addWidget(makeLabel(QStringLiteral("Ranges"), "muted"));
    methodRow->addWidget(m_method, 1);
    column->addWidget(m_perChannel);
    column->addLayout(activationRow);
    column->addWidget(m_symmetric);
    column->addLayout(methodRow);

    connect(m_preset, &QComboBox::activated, this, [this](int index) {
        const std::string name = presets()[static_cast<std::size_t>(index)].name;
        if (!m_document->edit(applyPreset(m_document->config(), name))) refresh();
    });
    connect(m_bits, &SegmentedControl::chosen, this, [this](int index) {
        const int chosen = kWeightBits[static_cast<std::size_t>(index)];
        edit(
            QStringLiteral("%1-bit weights").arg(chosen),
            [chosen](QuantizationConfig& c) { c.quantization.weight.bits = chosen; }, kMergeWeightBits);
    });
    connect(m_perChannel, &ToggleSwitch::clicked, this, [this](bool on) {
        edit(on ? QStringLiteral("Weights per channel") : QStringLiteral("Weights per tensor"),
             [on](QuantizationConfig& c) { c.quantization.weight.perChannel = on; });
    });
    connect(m_symmetric, &ToggleSwitch::clicked, this, [this](bool on) {
        edit(on ? QStringLiteral("Symmetric activations") : QStringLiteral("Affine activations"),
             [on](QuantizationConfig& c) { c.quantization.activation.symmetric = on; });
    });
    connect(m_activationBits, &SegmentedControl::chosen, this, [this](int index) {
        const int chosen = kActivationBits[static_cast<std::size_t>(index)];
        edit(
            QStringLiteral("%1-bit activations").arg(chosen),
            [chosen](QuantizationConfig& c) { c.quantization.activation.bits = chosen; }, kMergeActivationBits);
    });
    connect(m_method, &QComboBox::activated, this, [this](int index) {
        const MethodText& chosen = kMethods[index];
        edit(QStringLiteral("Ranges by %1").arg(QString::fromUtf8(chosen.name)), [&](QuantizationConfig& c) {
            c.calibration.method = chosen.method;
            c.calibration.parameters = {};  // another method's would be refused
        });
    });
    connect(document, &Document::configChanged, this, &SchemeSection::refresh);
    connect(document, &Document::modelChanged, this, &SchemeSection::refresh);
    refresh();
}

void SchemeSection::refresh() {
    const QuantizationConfig& config = m_document->config();
    setEnabled(m_document->hasModel());
    m_preset->setCurrentText(QString::fromStdString(config.preset));
    for (const PresetInfo& preset : presets())
        if (preset.name == config.preset) m_preset->setToolTip(QString::fromStdString(preset.description));
    m_heading->setRemark(differsFromPreset(config) ? QStringLiteral("changed") : QString(),
                         QStringLiteral("Settings differ from the preset's"));
    m_bits->setCurrentIndex(indexOf(kWeightBits, config.quantization.weight.bits));
    m_activationBits->setCurrentIndex(indexOf(kActivationBits, config.quantization.activation.bits));
    for (int i = 0; i < m_method->count(); ++i)
        if (kMethods[i].method == config.calibration.method) {
            m_method->setCurrentIndex(i);
            m_method->setToolTip(QString::fromUtf8(kMethods[i].meaning));
        }
    m_perChannel->setChecked(config.quantization.weight.perChannel);
    m_symmetric->setChecked(config.quantization.activation.symmetric);
}

}  // namespace quantloupe::ui
