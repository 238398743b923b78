// SPDX-License-Identifier: Apache-2.0
#include "panels/override_section.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "commands/layer_edits.h"
#include "model/operator_traits.h"
#include "style/choice_texts.h"

namespace quantloupe::ui {

namespace {

const QList<int> kBits = [] {
    QList<int> all;
    for (int bits = kLeastBits; bits <= kMostBits; ++bits) all.append(bits);
    return all;
}();
const QList<bool> kGranularity = {false, true};
const QList<bool> kSymmetry = {false, true};

/// The layer is followed by a batch norm that can be folded into it, or it is that batch norm.
bool hasBatchNorm(const Graph& graph, NodeId id) {
    return graph.node(id).op == "BatchNormalization" || batchNormAfter(graph, id).valid();
}

template <typename Value>
QList<Value> valuesOf(std::span<const ChoiceText<Value>> texts) {
    QList<Value> values;
    for (const auto& text : texts) values.append(text.value);
    return values;
}

/// Whether the layer's own settings quantize it or keep it in float; empty: the rules decide.
std::optional<bool> lockOf(const LayerSettings& settings) {
    return settings.precision ? settings.precision->isInteger() : settings.quantize;
}

/// The layer's own bits, which its precision may contain.
std::optional<int> weightBitsOf(const LayerSettings& settings) {
    if (!settings.precision) return settings.weightBits;
    return settings.precision->isInteger() ? std::optional(settings.precision->weightBits) : std::nullopt;
}
std::optional<int> activationBitsOf(const LayerSettings& settings) {
    if (!settings.precision) return settings.activationBits;
    return settings.precision->isInteger() ? std::optional(settings.precision->activationBits) : std::nullopt;
}

/// Replaces a precision by its bits, so that they can be changed separately.
void dissolvePrecision(LayerSettings& settings) {
    if (!settings.precision) return;
    settings.weightBits = weightBitsOf(settings);
    settings.activationBits = activationBitsOf(settings);
    settings.quantize = lockOf(settings);
    settings.precision.reset();
}

}  // namespace

OverrideSection::OverrideSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    build();
    observe();
    refresh();
}

void OverrideSection::build() {
    const int unit = fontMetrics().height();
    m_heading = new SectionHeading(tr("This layer"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("override"));

    m_lock = new SegmentedControl({tr("by rules"), tr("quantized"), tr("float")});
    m_lock->button(0)->setToolTip(tr("The skip rules decide"));
    m_lock->button(1)->setToolTip(tr("Always quantized, whatever the rules say"));
    m_lock->button(2)->setToolTip(tr("Always in float, whatever the rules say"));
    rows->addWidget(makeRow(tr("Lock"), m_lock));
    const auto bits = [](ChoiceBox* box) {
        box->addItem({});
        for (const int n : kBits) box->addItem(tr("%1 bits").arg(n));
    };
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(unit / 2);
    grid->setVerticalSpacing(unit / 3);
    const auto add = [&](const QString& label, const QString& toolTip, QLabel** shown = nullptr) {
        auto* box = new ChoiceBox(label);
        box->setMinimumContentsLength(4);
        box->setToolTip(toolTip);
        box->setMaxVisibleItems(20);
        const int row = grid->rowCount();
        QLabel* name = makeLabel(label, "muted");
        if (shown != nullptr) *shown = name;
        grid->addWidget(name, row, 0);
        grid->addWidget(box, row, 1);
        return box;
    };
    m_weightBits = add(tr("Weights"), tr("Bits of the weight"));
    bits(m_weightBits);
    m_perChannel = add(tr("Weight scales"), tr("One per tensor or one per channel"));
    m_perChannel->addItems({QString(), tr("per tensor"), tr("per channel")});
    m_weightMethod = add(tr("Weight method"), tr("How the weight's scales are chosen"));
    m_weightMethod->addItem({});
    for (const auto& text : weightMethodTexts()) m_weightMethod->addChoice(text.name(), text.meaning());
    m_biasBits = add(tr("Bias"), tr("Bits of the bias"));
    m_biasBits->addItem({});
    for (const auto& text : biasBitsTexts()) m_biasBits->addChoice(text.name(), text.meaning());
    for (int i = 0; i < grid->count(); ++i) m_weightRows.push_back(grid->itemAt(i)->widget());
    m_activationBits = add({}, {}, &m_activationLabel);  // updateTensorTexts() sets the texts
    bits(m_activationBits);
    m_symmetric = add({}, {}, &m_symmetricLabel);
    m_symmetric->addItem({});
    m_symmetric->addChoice(
        tr("asymmetric"),
        tr("With a zero point: the codes cover the range from its lowest to its highest value"));
    m_symmetric->addChoice(tr("symmetric"), tr("Zero point 0: the range is symmetric about 0"));
    m_method = add({}, {}, &m_methodLabel);
    m_method->addItem({});
    for (const auto& text : calibrationMethodTexts()) m_method->addChoice(text.name(), text.meaning());
    m_batchNorm = add(tr("Batch norm"),
                      tr("Whether the batch norm after the layer is folded into it; AMCT's "
                         "skip_fusion_layers names layers that keep it"),
                      &m_batchNormLabel);
    m_batchNorm->addItems({tr("folded"), tr("kept")});
    grid->setColumnStretch(1, 1);
    rows->addLayout(grid);
    m_form = new CalibrationForm;
    rows->addWidget(m_form);
    m_note = makeLabel({}, "faint", 0.9);
    m_note->setWordWrap(true);
    rows->addWidget(m_note);
    auto* buttons = new QHBoxLayout;
    const auto link = [&](const QString& text, const QString& toolTip) {
        QPushButton* button = makeLink(text, toolTip);
        buttons->addWidget(button);
        return button;
    };
    m_copy = link(tr("Copy"), tr("Copy the settings of this layer (Ctrl+Alt+C)"));
    m_paste = link(tr("Paste"), tr("Paste the copied settings to all selected layers (Ctrl+Alt+V)"));
    m_clear = link(tr("Reset"), tr("Clear everything set here and use the network's settings"));
    buttons->addStretch(1);
    buttons->setSpacing(unit);
    rows->addLayout(buttons);
}

void OverrideSection::observe() {
    connect(m_lock, &SegmentedControl::chosen, this, [this](int index) {
        static const QString kTexts[] = {tr("by the rules"), tr("always quantized"), tr("always float")};
        change(kTexts[index], [index](LayerSettings& s) {
            if (index == 0) dissolvePrecision(s);
            s.quantize = index == 0 ? std::optional<bool>() : std::optional<bool>(index == 1);
        });
    });
    const auto choice = [this](ChoiceBox* box, const QString& what, auto member, auto values) {
        const bool isBits = box == m_weightBits || box == m_activationBits;
        connect(box, &QComboBox::activated, this, [=, this](int index) {
            const QString text = index == 0 ? tr("%1 reset to network setting").arg(what)
                                            : QStringLiteral("%1 %2").arg(what, box->itemText(index));
            change(
                text,
                [=](LayerSettings& s) {
                    if (index == 0 && isBits && lockOf(s) == std::optional(true)) dissolvePrecision(s);
                    if (index == 0)
                        (s.*member).reset();
                    else
                        s.*member = values[index - 1];
                },
                box);
        });
    };
    choice(m_weightBits, tr("weights"), &LayerSettings::weightBits, kBits);
    choice(m_activationBits, tr("activation"), &LayerSettings::activationBits, kBits);
    choice(m_symmetric, tr("activation"), &LayerSettings::activationSymmetric, kSymmetry);
    connect(m_batchNorm, &QComboBox::activated, this, [this](int index) {
        m_document->edit(keepBatchNorms(m_document->config(), *m_document->graph(), names(), index == 1));
        refresh();
    });
    choice(m_perChannel, tr("weight scales"), &LayerSettings::weightPerChannel, kGranularity);
    choice(m_weightMethod, tr("weight method"), &LayerSettings::weightMethod, valuesOf(weightMethodTexts()));
    choice(m_biasBits, tr("bias"), &LayerSettings::biasBits, valuesOf(biasBitsTexts()));
    choice(m_method, tr("range by"), &LayerSettings::calibrationMethod, valuesOf(calibrationMethodTexts()));
    connect(m_form, &CalibrationForm::changed, this,
            [this](const CalibrationParameters& parameters, const QString& text) {
                change(text, [&](LayerSettings& s) { s.calibrationParameters = parameters; });
            });
    connect(m_copy, &QPushButton::clicked, this, &OverrideSection::copySettings);
    connect(m_paste, &QPushButton::clicked, this, &OverrideSection::pasteSettings);
    connect(m_clear, &QPushButton::clicked, this, &OverrideSection::clearSettings);
    connect(m_document, &Document::configChanged, this, &OverrideSection::refresh);
    connect(m_document, &Document::layersChanged, this, &OverrideSection::refreshOutputRows);
    connect(m_document, &Document::selectionChanged, this, &OverrideSection::refresh);
    connect(m_document, &Document::modelChanged, this, &OverrideSection::refresh);
}

/// Layers whose settings are changed: the selected ones.
std::vector<std::string> OverrideSection::names() const {
    std::vector<std::string> names;
    if (const GraphPtr graph = m_document->graph())
        for (const NodeId node : m_document->selection()) names.push_back(graph->node(node).name);
    return names;
}

void OverrideSection::change(const QString& text, const std::function<void(LayerSettings&)>& change,
                             QWidget* control) {
    // Stepping through a list with the keys is one undo step for the same layers.
    int key = -1;
    if (control) {
        key = static_cast<int>(qHash(control->accessibleName()) & 0xffffff) + 1000;
        for (const std::string& name : names())
            key =
                static_cast<int>((static_cast<std::size_t>(key) * 31 + qHash(QString::fromStdString(name))) &
                                 0x3fffffff) +
                1000;
    }
    m_document->edit(changeLayers(m_document->config(), names(), text, change, key));
    refresh();
}

void OverrideSection::copySettings() {
    if (!m_document->current().valid()) return;
    const LayerSettings* const own =
        m_document->config().settingsOf(m_document->graph()->node(m_document->current()).name);
    QApplication::clipboard()->setText(settingsToText(own == nullptr ? LayerSettings{} : *own));
    m_document->say(MessageKind::Note,
                    tr("Copied the settings of this layer. Paste applies them to the selected layers."));
}

void OverrideSection::pasteSettings() {
    const auto settings = settingsFromText(QApplication::clipboard()->text());
    if (!settings) {
        m_document->say(MessageKind::Note,
                        tr("The clipboard contains no layer settings: copy them from a layer first."));
        return;
    }
    m_document->edit(quantloupe::ui::pasteSettings(m_document->config(), names(), *settings));
}

void OverrideSection::clearSettings() {
    change(tr("network settings"), [](LayerSettings& s) {
        const std::string comment = s.comment;
        s = {};
        s.comment = comment;
    });
}

template <typename Value, typename Get>
void OverrideSection::showChoice(ChoiceBox* box, Get get, const QList<Value>& values,
                                 const QString& network) {
    std::optional<Value> shown;
    bool first = true, mixed = false;
    for (const std::string& name : names()) {
        const LayerSettings* const own = m_document->config().settingsOf(name);
        const std::optional<Value> value = own == nullptr ? std::nullopt : std::invoke(get, *own);
        mixed = mixed || (!first && value != shown);
        shown = value;
        first = false;
    }
    box->setItemText(0, QStringLiteral("(%1)").arg(network));  // in parentheses: the network's setting
    box->setItemData(0, tr("Network setting"), Qt::ToolTipRole);
    const auto place = shown ? values.indexOf(*shown) : -1;
    box->setCurrentIndex(mixed ? -1 : static_cast<int>(place) + 1);
    box->setPlaceholderText(mixed ? tr("mixed") : QString());
}

/// The settings of activations apply to the layer's input if only inputs of weighted layers are quantized.
void OverrideSection::updateTensorTexts() {
    const bool input = m_document->config().quantization.placement == Placement::WeightedInputs;
    const auto name = [](QLabel* label, ChoiceBox* box, const QString& text, const QString& toolTip) {
        label->setText(text);
        box->setAccessibleName(text);
        box->setToolTip(toolTip);
    };
    const QString tensor =
        input ? tr("the tensor that the layer reads") : tr("the tensor that the layer produces");
    name(m_activationLabel, m_activationBits, input ? tr("Input") : tr("Output"),
         tr("Bits of %1").arg(tensor));
    name(m_symmetricLabel, m_symmetric, input ? tr("Input codes") : tr("Output codes"),
         tr("Symmetric or asymmetric codes of %1 (asymmetric in AMCT's file)").arg(tensor));
    name(m_methodLabel, m_method, input ? tr("Input range") : tr("Output range"),
         tr("Calibration method of %1").arg(tensor));
}

void OverrideSection::refreshBatchNorm() {
    const Graph& graph = *m_document->graph();
    std::size_t shown = 0, folded = 0;
    for (const NodeId node : m_document->selection()) {
        if (!hasBatchNorm(graph, node)) continue;
        ++shown;
        folded += !keepsBatchNorm(m_document->config(), graph, node);
    }
    for (QWidget* widget : {static_cast<QWidget*>(m_batchNorm), static_cast<QWidget*>(m_batchNormLabel)})
        widget->setVisible(shown > 0);
    m_batchNorm->setEnabled(m_document->config().transforms.foldBatchNorm);
    m_batchNorm->setCurrentIndex(folded == shown ? 0 : folded == 0 ? 1 : -1);
    m_batchNorm->setPlaceholderText(tr("mixed"));
}

/// Settings of weights are hidden if none of the layers can have weights, unless they are set.
void OverrideSection::refreshWeightRows() {
    const Graph& graph = *m_document->graph();
    const bool shown = std::ranges::any_of(m_document->selection(), [&](NodeId id) {
        const LayerSettings* const own = m_document->config().settingsOf(graph.node(id).name);
        return canHaveWeights(graph.node(id)) ||
               (own != nullptr &&
                (own->weightBits || own->weightPerChannel || own->weightMethod || own->biasBits));
    });
    for (QWidget* widget : m_weightRows) widget->setVisible(shown);
}

void OverrideSection::refresh() {
    const std::vector<std::string> all = names();
    setEnabled(!all.empty());
    updateTensorTexts();
    if (all.empty()) return;
    refreshBatchNorm();
    refreshWeightRows();
    const QuantizationConfig& config = m_document->config();
    const auto settingsOf = [&](const std::string& name) {
        const LayerSettings* const own = config.settingsOf(name);
        return own == nullptr ? LayerSettings{} : *own;
    };
    const LayerSettings first = settingsOf(all.front());
    const auto same = [&](auto member) {
        return std::ranges::all_of(all, [&](const std::string& name) {
            return std::invoke(member, settingsOf(name)) == std::invoke(member, first);
        });
    };
    const auto own = std::ranges::count_if(
        all, [&](const std::string& name) { return !describeSettings(settingsOf(name)).isEmpty(); });
    m_heading->setTitle(all.size() == 1 ? tr("This layer") : tr("These layers"));
    const QString share = tr("%1 of %2").arg(own).arg(all.size());
    if (all.size() == 1)
        m_heading->setRemark(own ? tr("own settings") : QString());
    else
        m_heading->setRemark(share, tr("%1 layers have their own settings").arg(share));
    const std::optional<bool> lock = lockOf(first);
    m_lock->setCurrentIndex(!same(lockOf) ? -1 : !lock ? 0 : *lock ? 1 : 2);
    const QuantizationOptions& q = config.quantization;
    const auto bitsText = [](int bits) { return tr("%1 bits").arg(bits); };
    showChoice(m_weightBits, weightBitsOf, kBits, bitsText(q.weight.bits));
    showChoice(m_activationBits, activationBitsOf, kBits, bitsText(q.activation.bits));
    showChoice(m_symmetric, &LayerSettings::activationSymmetric, kSymmetry,
               q.activation.symmetric ? tr("symmetric") : tr("asymmetric"));
    showChoice(m_perChannel, &LayerSettings::weightPerChannel, kGranularity,
               q.weight.perChannel ? tr("per channel") : tr("per tensor"));
    showChoice(m_weightMethod, &LayerSettings::weightMethod, valuesOf(weightMethodTexts()),
               choiceLabel(weightMethodTexts(), q.weight.method));
    showChoice(m_biasBits, &LayerSettings::biasBits, valuesOf(biasBitsTexts()),
               choiceLabel(biasBitsTexts(), q.biasBits));
    showChoice(m_method, &LayerSettings::calibrationMethod, valuesOf(calibrationMethodTexts()),
               choiceLabel(calibrationMethodTexts(), config.calibration.method));
    const bool sameCalibration =
        same(&LayerSettings::calibrationMethod) && same(&LayerSettings::calibrationParameters);
    const CalibrationMethod method = first.calibrationMethod.value_or(config.calibration.method);
    // The network's parameters apply where the layer has none.
    if (sameCalibration)
        m_form->show(method, first.calibrationParameters, config.calibration.parameters);
    else
        m_form->hide();
    m_mixedMethods = !sameCalibration;
    refreshOutputRows();
}

void OverrideSection::refreshOutputRows() {
    if (m_document->selection().empty()) return;
    const QString without = textWithoutQuantizer();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_activationBits, m_symmetric, m_method, m_form})
        widget->setEnabled(without.isEmpty());
    m_note->setVisible(!without.isEmpty() || m_mixedMethods);
    m_note->setText(without.isEmpty()
                        ? tr("The layers use different calibration methods: choose one for all of "
                             "them to see its parameters.")
                        : without);
}

/// Empty if a selected layer may have a quantizer of its own, or has settings of one that can be reset.
QString OverrideSection::textWithoutQuantizer() const {
    bool hosted = false;
    for (const NodeId node : m_document->selection()) {
        const LayerResult* const layer = m_document->layer(node);
        if (layer == nullptr) return {};
        const bool passes = passesScale(*layer);
        if (!passes && layer->state != LayerState::Fused && layer->state != LayerState::Folded) return {};
        const LayerSettings* const own = m_document->config().settingsOf(layer->name);
        if (own != nullptr && (activationBitsOf(*own) || own->activationSymmetric || own->calibrationMethod ||
                               own->calibrationParameters != CalibrationParameters{}))
            return {};
        hosted = hosted || !passes;
    }
    return hosted ? tr("The output is computed inside another layer, whose settings apply.")
                  : tr("The output has the scale of the input, so it has no settings of its own.");
}

}  // namespace quantloupe::ui
