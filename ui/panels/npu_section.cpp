// SPDX-License-Identifier: Apache-2.0
#include "panels/npu_section.h"

#include "config/config_json.h"

namespace quantloupe::ui {

NpuSection::NpuSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("AMD NPU"));
    m_heading->setToolTip(
        tr("Corresponds to enable_npu_cnn of Quark; the presets quark-xint8 and quark-seed set it"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("npu"), false);
    buildOperators(rows);
    buildPositions(rows);
    connect(m_document, &Document::configChanged, this, &NpuSection::refresh);
    connect(m_document, &Document::modelChanged, this, &NpuSection::refresh);
    refresh();
}

void NpuSection::addSwitch(QLayout* layout, const QString& name, const QString& meaning, Flag flag) {
    auto* control = new ToggleSwitch(name);
    control->setToolTip(meaning);
    layout->addWidget(control);
    m_filled->append({control, flag});
    connect(control, &ToggleSwitch::clicked, this, [this, name, flag](bool on) {
        m_document->edit(changeConfig(m_document->config(),
                                      on ? tr("NPU: %1").arg(name) : tr("NPU: no %1").arg(name),
                                      [=](QuantizationConfig& c) { flag(c) = on; }));
        refresh();
    });
}

void NpuSection::buildOperators(QLayout* rows) {
    auto* heading = makeLabel(tr("NPU operators, also in the float network"), "muted");
    heading->setToolTip(tr("They are part of the transforms: the float drift shows their effect"));
    rows->addWidget(heading);
    m_filled = &m_operators;
    addSwitch(rows, tr("Averages with factor k / 2\u207f"),
              tr("AveragePool, GlobalAveragePool, ReduceMean: for example, 0.984375 times the mean of 3 "
                 "\u00d7 3 values"),
              [](QuantizationConfig& c) -> bool& { return c.transforms.npuOperators.averagePool; });
    addSwitch(rows, tr("LeakyRelu slopes in 1/256"), tr("The slope is a multiple of 1/256"),
              [](QuantizationConfig& c) -> bool& { return c.transforms.npuOperators.leakyRelu; });
    addSwitch(rows, tr("Sigmoid as HardSigmoid"), tr("With the slope 2731/16384"),
              [](QuantizationConfig& c) -> bool& { return c.transforms.npuOperators.sigmoid; });
}

void NpuSection::buildPositions(QLayout* rows) {
    auto* head = new QWidget;
    auto* line = new QHBoxLayout(head);
    line->setContentsMargins(0, 0, 0, 0);
    auto* heading = makeLabel(tr("Position rules for scales 2\u207b\u1d56"), "muted");
    heading->setToolTip(
        tr("p is the position. After calibration, the rules change scales in this order so "
           "that the hardware can apply them as shifts"));
    line->addWidget(heading, 1);
    m_all = new QPushButton;
    m_all->setProperty("link", true);
    line->addWidget(m_all);
    rows->addWidget(head);
    connect(m_all, &QPushButton::clicked, this, [this] {
        QuantizationConfig copy = m_document->config();
        const bool every =
            std::ranges::all_of(m_positions, [&](const auto& entry) { return entry.second(copy); });
        setAllPositions(!every);
    });
    m_filled = &m_positions;
    addSwitch(rows, tr("Align Concat"),
              tr("The inputs and the output of a Concat get the same position, the smallest of them"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignConcat; });
    addSwitch(rows, tr("Align pools"),
              tr("The input and the output of a pooling operator get the same "
                 "position; the larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignPool; });
    addSwitch(rows, tr("Align Pad"),
              tr("The input and the output of a Pad get the same position; the larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignPad; });
    addSwitch(rows, tr("Align Slice"),
              tr("The input and the output of a Slice get the same position; the "
                 "larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignSlice; });
    addSwitch(rows, tr("Read shift"),
              tr("The input positions of Add and Sub differ by at most 7; the "
                 "largest one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftRead; });
    addSwitch(rows, tr("Write shift"),
              tr("Add: smallest input \u2212 output within \u22127..25; Mul: sum of inputs \u2212 output "
                 "within 0..32; the output position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftWrite; });
    addSwitch(rows, tr("Cut shift"),
              tr("Conv and Gemm: weight + input \u2212 output within 0..16; "
                 "the weight position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftCut; });
    addSwitch(rows, tr("Bias shift"),
              tr("Conv and Gemm: weight + input \u2212 bias within min(0, cut \u2212 16)..15, from 0 before "
                 "a LeakyRelu; the bias position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftBias; });
    addSwitch(rows, tr("HardSigmoid"),
              tr("Input within 0..15, output from 7 to 14 + input; both positions are adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustHardSigmoid; });
    addSwitch(rows, tr("Swish shift"),
              tr("x \u00b7 HardSigmoid(x): sum of inputs \u2212 output within "
                 "0..15; the output position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftSwish; });
    m_loops = new NumberField(tr("Rounds of position rules"));
    m_loopsRow = makeRow(tr("Rounds"), m_loops,
                         tr("Maximum number of times that all rules are applied in order: 1 to 100"));
    rows->addWidget(m_loopsRow);
    m_warning = makeLabel(tr("As in Quark, a weight or bias keeps its codes when its scale is adjusted, so "
                             "its values grow. The log lists these layers; consider keeping them in float."),
                          "faint", 0.92);
    m_warning->setWordWrap(true);
    rows->addWidget(m_warning);
    connect(m_loops, &NumberField::entered, this, [this](const QString& text) {
        try {
            ConfigEdit edit{m_document->config(), tr("NPU: %1 rounds").arg(text), {}};
            setConfigKey(edit.next, "quantization.npu_positions.max_loops", text.toStdString());
            m_document->edit(edit);
        } catch (const std::exception& error) {
            m_loops->setComplaint(QString::fromUtf8(error.what()));
        }
    });
}

/// One undo step.
void NpuSection::setAllPositions(bool on) {
    m_document->edit(changeConfig(m_document->config(),
                                  on ? tr("NPU: all position rules") : tr("NPU: no position rules"),
                                  [&](QuantizationConfig& c) {
                                      for (const auto& [control, flag] : std::as_const(m_positions))
                                          flag(c) = on;
                                  }));
    refresh();
}

void NpuSection::refresh() {
    setEnabled(m_document->hasModel());
    QuantizationConfig copy = m_document->config();
    qsizetype on = 0, rules = 0;
    for (const auto& [control, flag] : std::as_const(m_operators)) {
        control->setChecked(flag(copy));
        on += flag(copy);
    }
    for (const auto& [control, flag] : std::as_const(m_positions)) {
        control->setChecked(flag(copy));
        rules += flag(copy);
    }
    m_all->setText(rules == m_positions.size() ? tr("none") : tr("all"));
    m_all->setAccessibleName(rules == m_positions.size() ? tr("No position rules")
                                                         : tr("All position rules"));
    m_loopsRow->setVisible(rules > 0);
    m_warning->setVisible(rules > 0);
    m_loops->setValue(QString::number(copy.quantization.npuPositions.maxLoops));
    m_heading->setRemark(
        on + rules == 0 ? tr("off")
                        : tr("%1 of %2 on").arg(on + rules).arg(m_operators.size() + m_positions.size()));
}

}  // namespace quantloupe::ui
