// SPDX-License-Identifier: Apache-2.0
// Imports AMCT's config.json.
//
// As in AMCT, a layer without an entry or without quant_enable stays in float. The most frequent settings
// become the network's settings. AMCT's activation parameters apply to a layer's input; here they belong to
// the layer that produces that tensor.

#include <algorithm>

#include "base/error.h"
#include "interchange/amct/amct_document.h"
#include "interchange/amct/amct_layers.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

template <typename Value>
Value mostCommon(const std::vector<Value>& values) {
    std::size_t best = 0, most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto count = static_cast<std::size_t>(std::count(values.begin(), values.end(), values[i]));
        if (count > most) most = count, best = i;
    }
    return values.at(best);
}

/// The quantization and calibration settings of an activation.
struct ActivationTarget {
    CalibrationMethod method = CalibrationMethod::Ifmr;
    CalibrationParameters parameters;
    bool symmetric = false;
    int bits = 8;
    bool operator==(const ActivationTarget&) const = default;
};

ActivationTarget targetOf(const AmctActivation& a, bool offset) {
    ActivationTarget t;
    t.bits = a.bits;
    t.symmetric = !a.asymmetric.value_or(offset);
    if (a.hfmg) {
        t.method = CalibrationMethod::Hfmg;
        t.parameters.numOfBins = a.numOfBins;
    } else {
        t.parameters.maxPercentile = a.maxPercentile;
        t.parameters.minPercentile = a.minPercentile;
        t.parameters.searchRange = a.searchRange;
        t.parameters.searchStep = a.searchStep;
    }
    return t;
}

/// Adds a message if activation_offset has no effect because every layer's `asymmetric` overrides it.
void noteIdleOffset(const AmctDocument& document, bool symmetric, ImportResult& result) {
    for (const auto& [name, entry] : document.layers)
        if (entry.enabled &&
            (!entry.activation.asymmetric || *entry.activation.asymmetric == document.activationOffset))
            return;
    result.taken.push_back(
        fmt::format("activation_offset {} has no effect, since every layer sets asymmetric to {}; an export "
                    "writes it as {}",
                    document.activationOffset, !symmetric, !symmetric));
}

/// Without a fixed batch size, batch_num does not determine the number of samples. One batch is the default
/// of AMCT's generator.
void takeBatches(const Graph& graph, int batches, ImportResult& result) {
    if (batches == 1) return;
    int& samples = result.config.calibration.samples;
    if (const auto size = amctBatchSize(graph)) {
        samples = static_cast<int>(std::min<std::int64_t>(batches * *size, 1'000'000'000));
        result.taken.push_back(fmt::format("batch_num {}: calibration on {}", batches,
                                           counted(static_cast<std::size_t>(samples), "sample")));
        return;
    }
    result.left.push_back(fmt::format(
        "batch_num {} counts batches, but this model has no fixed batch size; calibration.samples stays {}",
        batches, samples));
}

}  // namespace

ImportResult readAmct(const ImportSource& source) {
    const Graph& graph = *source.graph;
    AmctDocument document = parseAmct(source);
    ImportResult result;
    result.config = source.start;
    QuantizationConfig& config = result.config;
    // Unknown names come first: the user can correct them.
    for (const Error& missing : document.missing) result.leave(missing);
    result.left.insert(result.left.end(), document.left.begin(), document.left.end());
    forgetLayers(config);
    config.transforms = {};
    config.transforms.foldBatchNorm = document.fusion;
    config.transforms.skipFolding = document.skipFusion;

    std::vector<std::string> floating, forgotten, absent, migrating, otherRounding;
    std::vector<ActivationTarget> targets;
    std::vector<AmctWeight> weights, products;  // products cannot be channel-wise, so convolutions decide
    for (const Node& node : graph.nodes()) {
        if (!amctVerdict(graph, node).layer) continue;
        const auto found = document.layers.find(node.name);
        if (found == document.layers.end())
            absent.push_back(node.name);
        else if (!found->second.enableGiven)
            forgotten.push_back(node.name);
        if (found != document.layers.end() && found->second.migrates) migrating.push_back(node.name);
        if (found == document.layers.end() || !found->second.enabled) {
            floating.push_back(node.name);
            continue;
        }
        targets.push_back(targetOf(found->second.activation, document.activationOffset));
        if (node.op == "AveragePool") continue;
        (node.op.starts_with("Conv") ? weights : products).push_back(found->second.weight);
    }
    takeSkips(floating, result);
    if (!absent.empty())
        result.taken.push_back(
            fmt::format("without an entry, which AMCT treats as skipped: {}", shortList(absent)));
    if (!forgotten.empty())
        result.left.push_back(
            fmt::format("quant_enable is missing, which AMCT treats as false: {}", shortList(forgotten)));
    if (!migrating.empty())
        result.left.push_back(
            fmt::format("dmq_balancer_param has no counterpart here: {}", shortList(migrating)));

    auto& q = config.quantization;
    q = {};
    q.placement = Placement::WeightedInputs;
    q.weight.perChannelProducts = false;
    q.weight.restricted = false;
    q.weight.method = WeightMethod::Arq;
    if (!targets.empty()) {
        const ActivationTarget common = mostCommon(targets);
        q.activation.bits = common.bits;
        q.activation.symmetric = common.symmetric;
        config.calibration.method = common.method;
        config.calibration.parameters = common.parameters;
        // Also for float layers: their parameters apply as soon as they are quantized.
        for (const auto& [name, entry] : document.layers) {
            if (!entry.enabled && !entry.activationGiven) continue;
            const ActivationTarget own = targetOf(entry.activation, document.activationOffset);
            if (own == common) continue;
            LayerSettings& settings = config.layers[name];
            settings.activationSymmetric = own.symmetric;
            settings.activationBits = own.bits;
            settings.calibrationMethod = own.method;
            settings.calibrationParameters = own.parameters;
            result.taken.push_back(fmt::format("activation_quant_params of '{}'", name));
        }
        result.taken.push_back(fmt::format("activations: {} bits, {}, {}", common.bits,
                                           common.symmetric ? "symmetric" : "affine",
                                           common.method == CalibrationMethod::Hfmg ? "hfmg" : "ifmr"));
        noteIdleOffset(document, common.symmetric, result);
    }
    if (weights.empty()) weights = products;
    if (!weights.empty()) {
        const AmctWeight common = mostCommon(weights);
        q.weight.bits = common.bits;
        q.weight.perChannel = common.channelWise;
        bool learned = false, nuq = false;
        for (const auto& [name, entry] : document.layers) {
            if (graph.node(entry.node).op == "AveragePool") continue;
            learned = learned || (entry.enabled && entry.weight.algorithm == AmctWeightAlgorithm::Ada);
            nuq = nuq || entry.weight.algorithm == AmctWeightAlgorithm::Nuq;
            if (!entry.enabled && !entry.weightGiven) continue;
            if (entry.weight.bits != common.bits) config.layers[name].weightBits = entry.weight.bits;
            const bool product = graph.node(entry.node).op == "Gemm" || graph.node(entry.node).op == "MatMul";
            if (entry.weight.channelWise != (common.channelWise && !product))
                config.layers[name].weightPerChannel = entry.weight.channelWise;
        }
        config.refine.rounding = learned ? Rounding::Adaround : Rounding::Nearest;
        for (const auto& [name, entry] : document.layers)
            if (!entry.enabled && entry.weight.algorithm != AmctWeightAlgorithm::Nuq &&
                graph.node(entry.node).op != "AveragePool" &&
                (entry.weight.algorithm == AmctWeightAlgorithm::Ada) != learned)
                otherRounding.push_back(name);
        if (!otherRounding.empty())
            result.left.push_back(fmt::format(
                "wts_algo {} of layers in float is not kept, because rounding is set for the whole "
                "network here: {}",
                learned ? "arq_quantize" : "ada_quantize", shortList(otherRounding)));
        if (nuq) result.left.emplace_back("wts_algo nuq_quantize is obsolete and becomes arq_quantize");
        result.taken.push_back(fmt::format("weights: {} bits, {}{}", common.bits,
                                           common.channelWise ? "per channel" : "per tensor",
                                           learned ? ", learned rounding in all layers" : ""));
    }
    takeBatches(graph, document.batches, result);
    return result;
}

}  // namespace quantloupe
