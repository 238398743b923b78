// SPDX-License-Identifier: Apache-2.0
#include "commands/layer_edits.h"

#include <QStringList>
#include <algorithm>
#include <array>

#include "config/config_json.h"
#include "style/choice_texts.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

const std::string kCopied = "copied layer";

/// Resolves conflicts with a precision: bits that were set change an integer precision, and a choice that
/// contradicts the precision replaces it.
void settlePrecision(LayerSettings& settings) {
    if (!settings.precision) return;
    if (settings.quantize && settings.precision->isInteger() != *settings.quantize)
        settings.precision.reset();
    if (!settings.precision || !settings.precision->isInteger()) return;
    if (settings.weightBits) settings.precision->weightBits = *settings.weightBits;
    if (settings.activationBits) settings.precision->activationBits = *settings.activationBits;
    settings.weightBits.reset();
    settings.activationBits.reset();
}

}  // namespace

ConfigEdit changeLayers(const QuantizationConfig& config, const std::vector<std::string>& names,
                        const QString& text, const std::function<void(LayerSettings&)>& change,
                        int mergeKey) {
    ConfigEdit edit{config, QStringLiteral("%1: %2").arg(layersText(names), text), {}, mergeKey};
    if (names.empty()) {
        edit.complaint = Words::tr("Select a layer first.");
        return edit;
    }
    for (const std::string& name : names) {
        LayerSettings settings = config.layers.contains(name) ? config.layers.at(name) : LayerSettings{};
        change(settings);
        settlePrecision(settings);
        if (settings.empty())
            edit.next.layers.erase(name);
        else
            edit.next.layers[name] = settings;
    }
    return edit;
}

QString settingsToText(const LayerSettings& settings) {
    QuantizationConfig config;
    config.layers[kCopied] = settings;
    config.layers[kCopied].comment.clear();
    return QString::fromStdString(configToJson(config));
}

std::optional<LayerSettings> settingsFromText(const QString& text) {
    if (!text.contains(QLatin1String(kCopied.c_str()))) return std::nullopt;
    try {
        const QuantizationConfig config = configFromJson(text.toStdString());
        const auto found = config.layers.find(kCopied);
        if (found != config.layers.end()) return found->second;
        return LayerSettings{};  // copied from a layer without settings
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

ConfigEdit pasteSettings(const QuantizationConfig& config, const std::vector<std::string>& names,
                         const LayerSettings& settings) {
    return changeLayers(config, names, Words::tr("paste settings"), [&](LayerSettings& target) {
        const std::string comment = target.comment;
        target = settings;
        target.comment = comment;
    });
}

QString describeSettings(const LayerSettings& settings) {
    QStringList words;
    if (settings.quantize)
        words << (*settings.quantize ? Words::tr("always quantized") : Words::tr("always float"));
    if (settings.precision) words << precisionText(*settings.precision);
    if (settings.weightBits) words << Words::tr("%1-bit weights").arg(*settings.weightBits);
    if (settings.weightPerChannel)
        words << (*settings.weightPerChannel ? Words::tr("weights per channel")
                                             : Words::tr("weights per tensor"));
    if (settings.weightMethod)
        words
            << Words::tr("weight scales by %1").arg(choiceLabel(weightMethodTexts(), *settings.weightMethod));
    const auto add = [&words](const std::optional<bool>& value, const QString& yes, const QString& no) {
        if (value) words << (*value ? yes : no);
    };
    add(settings.weightSigned, Words::tr("signed weights"), Words::tr("unsigned weights"));
    add(settings.weightSymmetric, Words::tr("symmetric weights"), Words::tr("asymmetric weights"));
    add(settings.weightRestricted, Words::tr("restricted weight codes"),
        Words::tr("unrestricted weight codes"));
    add(settings.weightPowerOfTwo, Words::tr("power-of-two weight scales"),
        Words::tr("unrestricted weight scales"));
    if (settings.biasBits)
        words << (*settings.biasBits == kFloatBias ? Words::tr("float bias")
                                                   : Words::tr("%1-bit bias").arg(*settings.biasBits));
    if (settings.activationBits) words << Words::tr("%1-bit activation").arg(*settings.activationBits);
    add(settings.activationSymmetric, Words::tr("symmetric activation"), Words::tr("asymmetric activation"));
    add(settings.activationSigned, Words::tr("signed activation"), Words::tr("unsigned activation"));
    add(settings.activationPowerOfTwo, Words::tr("power-of-two activation scale"),
        Words::tr("unrestricted activation scale"));
    if (settings.calibrationMethod)
        words << choiceLabel(calibrationMethodTexts(), *settings.calibrationMethod);
    if (settings.calibrationParameters != CalibrationParameters{})
        words << Words::tr("calibration parameters");
    return words.join(QStringLiteral(", "));
}

NodeId batchNormAfter(const Graph& graph, NodeId layer) {
    const TensorId output = graph.node(layer).output();
    const NodeId reader = output.valid() ? graph.onlyConsumer(output) : NodeId();
    return reader.valid() && graph.node(reader).op == "BatchNormalization" ? reader : NodeId();
}

bool keepsBatchNorm(const QuantizationConfig& config, const Graph& graph, NodeId node) {
    const NodeId norm = batchNormAfter(graph, node);
    const NodeId host = graph.node(node).op == "BatchNormalization"
                            ? graph.tensor(graph.node(node).input(0)).producer
                            : NodeId();
    return std::ranges::any_of(std::array{node, norm, host}, [&](NodeId id) {
        return id.valid() && std::ranges::count(config.transforms.skipFolding, graph.node(id).name) > 0;
    });
}

ConfigEdit keepBatchNorms(const QuantizationConfig& config, const Graph& graph,
                          const std::vector<std::string>& names, bool keep) {
    ConfigEdit edit{config,
                    QStringLiteral("%1: %2").arg(layersText(names), keep ? Words::tr("batch norm kept")
                                                                         : Words::tr("batch norm folded")),
                    {}};
    auto& kept = edit.next.transforms.skipFolding;
    for (const std::string& name : names) {
        const auto node = graph.findNode(name);
        if (!node) continue;
        std::erase(kept, name);
        if (graph.node(*node).op == "BatchNormalization")
            if (const NodeId host = graph.tensor(graph.node(*node).input(0)).producer; host.valid())
                std::erase(kept, graph.node(host).name);
        const NodeId norm = batchNormAfter(graph, *node);
        if (norm.valid()) std::erase(kept, graph.node(norm).name);  // either name would keep it
        if (keep && (norm.valid() || graph.node(*node).op == "BatchNormalization")) kept.push_back(name);
    }
    return edit;
}

ConfigEdit switchEqualization(const QuantizationConfig& config, const std::vector<std::string>& set,
                              bool on) {
    QStringList names;
    for (const std::string& name : set) names << QString::fromStdString(name);
    ConfigEdit edit{config,
                    (on ? Words::tr("Equalize %1") : Words::tr("Do not equalize %1"))
                        .arg(names.join(QStringLiteral(", "))),
                    {}};
    auto& off = edit.next.transforms.equalization.off;
    std::erase(off, set);
    if (!on) off.push_back(set);
    return edit;
}

}  // namespace quantloupe::ui
