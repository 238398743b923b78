// SPDX-License-Identifier: Apache-2.0
// AMCT's config.json, as its own generator writes it: global keys in its order, then a complete entry for
// every layer that AMCT can quantize, sorted by name, also for those left in float (quant_enable false), so
// that they can be turned on by hand. Every entry states `asymmetric`: AMCT's generator does so, too, and the
// global activation_offset has no effect beside it.

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "interchange/amct_layers.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

constexpr std::string_view kReservedKeys[] = {
    "version",   "batch_num",          "activation_offset",        "joint_quant",    "weight_offset",
    "do_fusion", "skip_fusion_layers", "fakequant_precision_mode", "tensor_quantize"};

struct Entry {
    std::string name;
    bool enabled = false;
    bool asymmetric = true;
    int weightBits = 8;
    bool channelWise = false;
};

/// Layers of which a notice speaks, and the words for it.
using Groups = std::map<std::string, std::vector<std::string>>;

const char* word(bool value) { return value ? "true" : "false"; }

/// The wanted width if AMCT can do it in this layer, else 8 and the reason among the groups.
int weightBits(int wanted, const AmctLayer& layer, const std::string& name, Groups& bits) {
    std::string reason;
    if (wanted != 4 && wanted != 6 && wanted != 7 && wanted != 8)
        reason = "AMCT knows 4, 6, 7 and 8";
    else if ((wanted == 6 || wanted == 7) && !layer.sixAndSevenBits)
        reason = "AMCT does 6 and 7 in two-dimensional Conv only";
    else if (wanted == 4 && !layer.fourBits)
        reason = "AMCT does 4 only with one group and an even number of input channels";
    if (reason.empty()) return wanted;
    bits[fmt::format("{} weight bits become 8, for {}", wanted, reason)].push_back(name);
    return 8;
}

Entry makeEntry(const Node& node, const AmctLayer& layer, const QuantizationConfig& config, bool enabled,
                Groups& groups) {
    static const LayerSettings kNone;
    const auto found = config.layers.find(node.name);
    const LayerSettings& own = found == config.layers.end() ? kNone : found->second;
    Groups unheard;  // what a layer in float would lose interests nobody
    Groups& said = enabled ? groups : unheard;

    Entry entry;
    entry.name = node.name;
    entry.enabled = enabled;
    entry.asymmetric = !own.activationSymmetric.value_or(config.quantization.activation.symmetric);
    if (layer.symmetricOnly && entry.asymmetric) {
        said["AMCT takes three-dimensional convolutions with symmetric activations only, so they become so"]
            .push_back(node.name);
        entry.asymmetric = false;
    }
    if (!layer.hasWeight) return entry;
    entry.weightBits =
        weightBits(own.weightBits.value_or(config.quantization.weight.bits), layer, node.name, said);
    const bool perChannel = own.weightPerChannel.value_or(config.quantization.weight.perChannel);
    entry.channelWise = perChannel && layer.perChannel;
    if (perChannel && !layer.perChannel)
        said[fmt::format("AMCT has no weights per channel in {}, so they become per tensor", node.op)]
            .push_back(node.name);
    return entry;
}

std::string entryJson(const Entry& entry) {
    return fmt::format(
        R"(    {}:{{
        "quant_enable":{},
        "activation_quant_params":{{
            "num_bits":8,
            "max_percentile":0.999999,
            "min_percentile":0.999999,
            "search_range":[0.7,1.3],
            "search_step":0.01,
            "act_algo":"ifmr",
            "asymmetric":{}
        }},
        "weight_quant_params":{{
            "num_bits":{},
            "channel_wise":{},
            "wts_algo":"arq_quantize"
        }}
    }})",
        jsonQuoted(entry.name), word(entry.enabled), word(entry.asymmetric), entry.weightBits,
        word(entry.channelWise));
}

/// The convolutions that keep their batch norm; a batch norm's own name stands for the convolution before it.
std::vector<std::string> skippedFusions(const Graph& graph, const TransformOptions& transforms,
                                        std::vector<std::string>& notices) {
    std::set<std::string> names;
    for (const std::string& name : transforms.skipFolding) {
        auto id = graph.findNode(name);
        if (id && graph.node(*id).op == "BatchNormalization" && graph.node(*id).input(0).valid()) {
            const NodeId before = graph.tensor(graph.node(*id).input(0)).producer;
            if (before.valid()) id = before;
        }
        if (id && graph.node(*id).op == "Conv")
            names.insert(graph.node(*id).name);
        else
            notices.push_back(fmt::format(
                "'{}' in skip_folding is no Conv; AMCT's skip_fusion_layers takes no other", name));
    }
    return {names.begin(), names.end()};
}

std::string document(const QuantizationConfig& config, const std::vector<std::string>& unfused,
                     const std::vector<Entry>& entries) {
    std::vector<std::string> names, parts;
    for (const std::string& name : unfused) names.push_back(jsonQuoted(name));
    for (const Entry& entry : entries) parts.push_back(entryJson(entry));
    return fmt::format(R"({{
    "version":1,
    "batch_num":1,
    "activation_offset":{},
    "joint_quant":false,
    "do_fusion":{},
    "skip_fusion_layers":[{}],
{}
}}
)",
                       word(!config.quantization.activation.symmetric), word(config.transforms.foldBatchNorm),
                       fmt::join(names, ","), fmt::join(parts, ",\n"));
}

void noteTransforms(const TransformOptions& transforms, std::vector<std::string>& notices) {
    const std::vector<std::string> changes = otherTransforms(transforms);
    if (changes.empty()) return;
    notices.push_back(
        fmt::format("{} cannot be part of AMCT's configuration: write the changed model with "
                    "'quantloupe-cli transform' and give that to AMCT",
                    fmt::join(changes, ", ")));
}

void noteScheme(const QuantizationConfig& config, std::vector<std::string>& notices) {
    notices.push_back(
        "AMCT calibrates activations with ifmr, while the preview used min_max: scales will differ");
    notices.push_back(
        "AMCT quantizes the inputs and weights of the listed layers only, while the preview quantizes "
        "the outputs of layers, too");
    if (config.quantization.weight.restricted)
        notices.push_back(
            "AMCT's weights use the lowest code, too (-128 with 8 bits), while the preview's are restricted");
    if (!config.quantization.activation.isSigned)
        notices.push_back("AMCT's activations are signed; the unsigned ones of the preview have no key");
}

}  // namespace

ExportResult writeAmct(const ExportSource& source) {
    const Graph& graph = *source.prepared->source;
    const QuantizationConfig& config = source.config;
    ExportResult result;
    std::vector<Entry> entries;
    Groups groups;                              // words to layers
    std::map<std::string, std::size_t> absent;  // operator to its quantized layers that AMCT leaves alone
    std::vector<std::string> unsupportedHere;   // AMCT could, the preview could not
    std::size_t enabled = 0;
    for (const LayerResult& layer : source.layers) {
        if (!layer.node.valid() || layer.node.index() >= graph.nodeCount())
            fail(ErrorKind::Internal, "layer '{}' is not of this model", layer.name);
        const Node& node = graph.node(layer.node);
        const bool quantized = layer.state == LayerState::Quantized;
        if (layer.state == LayerState::Folded && node.op == "BatchNormalization") {
            const auto host = graph.findNode(layer.host);
            if (host && !graph.node(*host).op.starts_with("Conv"))
                groups
                    ["AMCT folds batch norms into convolutions only; for others, give it the model that "
                     "'quantloupe-cli transform' writes"]
                        .push_back(node.name);
        }
        const AmctVerdict verdict = amctVerdict(graph, node);
        if (!verdict.layer) {
            if (quantized && verdict.reason.empty()) ++absent[node.op];
            if (quantized && !verdict.reason.empty())
                groups[fmt::format("AMCT leaves this {} in float, because {}", node.op, verdict.reason)]
                    .push_back(node.name);
            continue;
        }
        if (std::find(std::begin(kReservedKeys), std::end(kReservedKeys), node.name) !=
            std::end(kReservedKeys))
            failInput("the layer '{}' has the name of a key of AMCT's own; rename it in the model",
                      node.name);
        entries.push_back(makeEntry(node, *verdict.layer, config, quantized, groups));
        if (quantized) ++enabled;
        if (layer.state == LayerState::Float) unsupportedHere.push_back(node.name);
    }
    if (enabled == 0)
        failInput(
            "no layer that AMCT can quantize is quantized here, which AMCT refuses: take back a skip, or see in the layer "
            "table why they stay in float (AMCT knows Conv, ConvTranspose, Gemm, MatMul with a constant matrix and "
            "AveragePool)");
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });

    noteScheme(config, result.notices);
    for (std::string& text : ruleNotices(source, "AMCT")) result.notices.push_back(std::move(text));
    for (std::string& text : refineNotices(source, "AMCT")) result.notices.push_back(std::move(text));
    for (const auto& [op, count] : absent)
        result.notices.push_back(
            fmt::format("AMCT does not quantize {}: {} left out", op,
                        count == 1 ? "1 layer is" : fmt::format("{} layers are", count)));
    if (!unsupportedHere.empty())
        result.notices.push_back(fmt::format("AMCT could quantize what the preview cannot; left off: {}",
                                             shortList(unsupportedHere)));
    for (const auto& [words, names] : groups)
        result.notices.push_back(fmt::format("{}: {}", words, shortList(names)));
    noteTransforms(config.transforms, result.notices);
    const std::vector<std::string> unfused = skippedFusions(graph, config.transforms, result.notices);
    result.files.push_back({"", document(config, unfused, entries), nullptr, false});
    return result;
}

}  // namespace quantloupe
