// SPDX-License-Identifier: Apache-2.0
#include "dialogs/export_options.h"

#include <QVBoxLayout>

namespace quantloupe::ui {

ExportOptionsRow::ExportOptionsRow(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_floatWeights = new ToggleSwitch(tr("Weights in float"));
    m_floatWeights->setToolTip(
        tr("Weights stay in float, followed by QuantizeLinear and DequantizeLinear, "
           "for compilers that quantize weights themselves. Otherwise they are "
           "integers followed by DequantizeLinear. Biases of 32 bits stay integers"));
    m_fourBitTypes = new ToggleSwitch(tr("4-bit types"));
    m_fourBitTypes->setToolTip(
        tr("Writes 2 to 4 bits as int4 and uint4, which raises the model to opset "
           "21. Otherwise they are written as int8 and uint8"));
    auto* switches = new QHBoxLayout;
    switches->addWidget(m_floatWeights);
    switches->addSpacing(fontMetrics().height());
    switches->addWidget(m_fourBitTypes);
    switches->addStretch(1);
    column->addLayout(switches);
    m_meaning = makeLabel({}, "faint", 0.92);
    m_meaning->setWordWrap(true);
    column->addWidget(m_meaning);
    connect(m_floatWeights, &ToggleSwitch::clicked, this, [this](bool on) {
        m_document->edit(changeConfig(m_document->config(),
                                      on ? tr("Export weights in float") : tr("Export weights as integers"),
                                      [on](QuantizationConfig& c) { c.exports.floatWeights = on; }));
    });
    connect(m_fourBitTypes, &ToggleSwitch::clicked, this, [this](bool on) {
        m_document->edit(changeConfig(m_document->config(),
                                      on ? tr("Export 4-bit types") : tr("Export 4-bit types as 8 bits"),
                                      [on](QuantizationConfig& c) { c.exports.fourBitTypes = on; }));
    });
    connect(m_document, &Document::configChanged, this, &ExportOptionsRow::refresh);
    refresh();
}

void ExportOptionsRow::refresh() {
    const ExportOptions& options = m_document->config().exports;
    m_floatWeights->setChecked(options.floatWeights);
    m_fourBitTypes->setChecked(options.fourBitTypes);
    m_meaning->setText(
        (options.floatWeights ? tr("Weights are floats, quantized when the model runs.")
                              : tr("Weights are integers.")) +
        QLatin1Char(' ') +
        (options.fourBitTypes
             ? tr("Constants of up to 4 bits are int4 or uint4 (opset 21).")
             : tr("Constants of up to 4 bits are written as 8 bits, for tools below opset 21.")));
}

}  // namespace quantloupe::ui
