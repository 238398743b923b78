// SPDX-License-Identifier: Apache-2.0
#include "panels/scheme_section.h"

#include <QSignalBlocker>
#include <QVBoxLayout>

#include "config/presets.h"

namespace quantloupe::ui {

namespace {
constexpr int kLeastBits = 2;
constexpr int kMostBits = 8;
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

    QStringList bits;
    for (int b = kLeastBits; b <= kMostBits; ++b) bits.append(QString::number(b));
    m_bits = new SegmentedControl(bits);
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
    auto* activations = makeLabel(QStringLiteral("8 bits"), "faint", 0.92);
    activations->setToolTip(QStringLiteral("Activations have 8 bits"));
    auto* symmetricRow = new QHBoxLayout;
    symmetricRow->addWidget(m_symmetric);
    symmetricRow->addStretch(1);
    symmetricRow->addWidget(activations);
    column->addWidget(m_perChannel);
    column->addLayout(symmetricRow);

    connect(m_preset, &QComboBox::activated, this, [this](int index) {
        const std::string name = presets()[static_cast<std::size_t>(index)].name;
        if (!m_document->edit(applyPreset(m_document->config(), name))) refresh();
    });
    connect(m_bits, &SegmentedControl::chosen, this, [this](int index) {
        const int chosen = kLeastBits + index;
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
    m_bits->setCurrentIndex(config.quantization.weight.bits - kLeastBits);
    m_perChannel->setChecked(config.quantization.weight.perChannel);
    m_symmetric->setChecked(config.quantization.activation.symmetric);
}

}  // namespace quantloupe::ui
