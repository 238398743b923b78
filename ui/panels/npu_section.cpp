// SPDX-License-Identifier: Apache-2.0
#include "panels/npu_section.h"

namespace quantloupe::ui {

NpuSection::NpuSection(Document* document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_operators(new OptionControls(document, this)),
      m_positions(new OptionControls(document, this)) {
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

ToggleSwitch* NpuSection::makeSwitch(OptionControls* controls, const QString& name, const QString& meaning,
                                     OptionOf<bool> option) {
    return controls->addSwitch(name, meaning, tr("NPU: %1").arg(name), tr("NPU: no %1").arg(name), option);
}

void NpuSection::buildOperators(QLayout* rows) {
    auto* heading = makeLabel(tr("NPU operators, also in the float network"), "muted");
    heading->setToolTip(tr("They are part of the transforms: the float drift shows their effect"));
    rows->addWidget(heading);
    const auto addSwitch = [&](const QString& name, const QString& meaning, OptionOf<bool> option) {
        rows->addWidget(makeSwitch(m_operators, name, meaning, option));
    };
    addSwitch(tr("Averages with factor k / 2\u207f"),
              tr("AveragePool, GlobalAveragePool, ReduceMean: for example, 0.984375 times the mean of 3 "
                 "\u00d7 3 values"),
              [](QuantizationConfig& c) -> bool& { return c.transforms.npuOperators.averagePool; });
    addSwitch(tr("LeakyRelu slopes in 1/256"), tr("The slope is a multiple of 1/256"),
              [](QuantizationConfig& c) -> bool& { return c.transforms.npuOperators.leakyRelu; });
    addSwitch(tr("Sigmoid as HardSigmoid"), tr("With the slope 2731/16384"),
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
    m_all = makeLink();
    line->addWidget(m_all);
    rows->addWidget(head);
    connect(m_all, &QPushButton::clicked, this,
            [this] { setAllPositions(m_positions->changed() < m_positions->size()); });
    const auto addSwitch = [&](const QString& name, const QString& meaning, OptionOf<bool> option) {
        rows->addWidget(makeSwitch(m_positions, name, meaning, option));
        m_rules.push_back(option);
    };
    addSwitch(tr("Align Concat"),
              tr("The inputs and the output of a Concat get the same position, the smallest of them"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignConcat; });
    addSwitch(tr("Align pools"),
              tr("The input and the output of a pooling operator get the same "
                 "position; the larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignPool; });
    addSwitch(tr("Align Pad"),
              tr("The input and the output of a Pad get the same position; the larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignPad; });
    addSwitch(tr("Align Slice"),
              tr("The input and the output of a Slice get the same position; the "
                 "larger one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.alignSlice; });
    addSwitch(tr("Read shift"),
              tr("The input positions of Add and Sub differ by at most 7; the "
                 "largest one is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftRead; });
    addSwitch(tr("Write shift"),
              tr("Add: smallest input \u2212 output within \u22127..25; Mul: sum of inputs \u2212 output "
                 "within 0..32; the output position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftWrite; });
    addSwitch(tr("Cut shift"),
              tr("Conv and Gemm: weight + input \u2212 output within 0..16; "
                 "the weight position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftCut; });
    addSwitch(tr("Bias shift"),
              tr("Conv and Gemm: weight + input \u2212 bias within min(0, cut \u2212 16)..15, from 0 before "
                 "a LeakyRelu; the bias position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftBias; });
    addSwitch(tr("HardSigmoid"),
              tr("Input within 0..15, output from 7 to 14 + input; both positions are adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustHardSigmoid; });
    addSwitch(tr("Swish shift"),
              tr("x \u00b7 HardSigmoid(x): sum of inputs \u2212 output within "
                 "0..15; the output position is adjusted"),
              [](QuantizationConfig& c) -> bool& { return c.quantization.npuPositions.adjustShiftSwish; });
    auto* others = new OptionControls(m_document, this);
    auto* loops = others->addField<int>(
        tr("Rounds of position rules"), "quantization.npu_positions.max_loops", tr("NPU: %1 rounds"),
        [](QuantizationConfig& c) -> int& { return c.quantization.npuPositions.maxLoops; });
    m_loopsRow = makeRow(tr("Rounds"), loops,
                         tr("Maximum number of times that all rules are applied in order: 1 to 100"));
    rows->addWidget(m_loopsRow);
    m_warning =
        makeLabel(tr("As in Quark, a weight or bias keeps its codes when its scale is adjusted, so "
                     "its values grow. The Notices tab lists these layers; consider keeping them in float."),
                  "faint", 0.92);
    m_warning->setWordWrap(true);
    rows->addWidget(m_warning);
}

/// One undo step.
void NpuSection::setAllPositions(bool on) {
    m_document->edit(changeConfig(m_document->config(),
                                  on ? tr("NPU: all position rules") : tr("NPU: no position rules"),
                                  [&](QuantizationConfig& c) {
                                      for (const OptionOf<bool> rule : m_rules) rule(c) = on;
                                  }));
    refresh();
}

void NpuSection::refresh() {
    setEnabled(m_document->hasModel());
    const int on = m_operators->changed(), rules = m_positions->changed();  // all are off by default
    const bool every = rules == m_positions->size();
    m_all->setText(every ? tr("none") : tr("all"));
    m_all->setAccessibleName(every ? tr("No position rules") : tr("All position rules"));
    m_loopsRow->setVisible(rules > 0);
    m_warning->setVisible(rules > 0);
    m_heading->setRemark(
        on + rules == 0 ? tr("off")
                        : tr("%1 of %2 on").arg(on + rules).arg(m_operators->size() + m_positions->size()));
}

}  // namespace quantloupe::ui
