// SPDX-License-Identifier: Apache-2.0
// Imports AMCT's config.json.
//
// As in AMCT, a layer without an entry or without quant_enable stays in float. The most frequent settings
// become the network's settings. AMCT's activation parameters apply to a layer's input; here they belong to
// the layer that produces that tensor.

#include <algorithm>

#include "base/error.h"
#include "config/skip_rules.h"
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

/// Converts the parsed document step by step: which layers are in float, then activations, weights, batches.
class AmctImport {
  public:
    AmctImport(const ImportSource& source, AmctDocument document)
        : m_graph(*source.graph), m_document(std::move(document)) {
        m_result.config = source.start;
        // Unknown names come first: the user can correct them.
        for (const UnknownName& missing : m_document.missing) m_result.leave(unknownLayer(missing));
        m_result.left.insert(m_result.left.end(), m_document.left.begin(), m_document.left.end());
    }

    ImportResult convert() {
        QuantizationConfig& config = m_result.config;
        forgetLayers(config);
        config.transforms = {};
        config.transforms.foldBatchNorm = m_document.fusion;
        config.transforms.skipFolding = m_document.skipFusion;
        config.quantization = {};
        config.quantization.placement = Placement::WeightedInputs;
        config.quantization.weight.perChannelProducts = false;
        config.quantization.weight.restricted = false;
        config.quantization.weight.method = WeightMethod::Arq;
        config.calibration.quantizedWeights = false;
        takeLayers();
        if (!m_targets.empty()) takeActivations(mostCommon(m_targets));
        // Products cannot be channel-wise, so the convolutions decide.
        const std::vector<AmctWeight>& weights = m_convolutions.empty() ? m_products : m_convolutions;
        if (!weights.empty()) takeWeights(mostCommon(weights));
        takeBatches();
        return std::move(m_result);
    }

  private:
    void takeLayers() {
        std::vector<std::string> floating, withoutEnable, absent, migrating;
        for (const Node& node : m_graph.nodes()) {
            if (!amctVerdict(m_graph, node).layer) continue;
            const auto found = m_document.layers.find(node.name);
            if (found == m_document.layers.end()) {
                absent.push_back(node.name);
                floating.push_back(node.name);
                continue;
            }
            const AmctEntry& entry = found->second;
            if (!entry.enableGiven) withoutEnable.push_back(node.name);
            if (entry.migrates) migrating.push_back(node.name);
            if (!entry.enabled) {
                floating.push_back(node.name);
                continue;
            }
            m_targets.push_back(targetOf(entry.activation, m_document.activationOffset));
            if (node.op == "AveragePool") continue;
            (node.op.starts_with("Conv") ? m_convolutions : m_products).push_back(entry.weight);
        }
        takeSkips(floating, m_result);
        if (!absent.empty())
            m_result.taken.push_back(
                fmt::format("without an entry, which AMCT treats as skipped: {}", shortList(absent)));
        if (!withoutEnable.empty())
            m_result.left.push_back(fmt::format("quant_enable is missing, which AMCT treats as false: {}",
                                                shortList(withoutEnable)));
        if (!migrating.empty())
            m_result.left.push_back(
                fmt::format("dmq_balancer_param has no counterpart here: {}", shortList(migrating)));
    }

    void takeActivations(const ActivationTarget& common) {
        QuantizationConfig& config = m_result.config;
        config.quantization.activation.bits = common.bits;
        config.quantization.activation.symmetric = common.symmetric;
        config.calibration.method = common.method;
        config.calibration.parameters = common.parameters;
        // Also for float layers: their parameters apply as soon as they are quantized.
        for (const auto& [name, entry] : m_document.layers) {
            if (!entry.enabled && !entry.activationGiven) continue;
            const ActivationTarget own = targetOf(entry.activation, m_document.activationOffset);
            if (own == common) continue;
            LayerSettings& settings = config.layers[name];
            settings.activationSymmetric = own.symmetric;
            settings.activationBits = own.bits;
            settings.calibrationMethod = own.method;
            settings.calibrationParameters = own.parameters;
            m_result.taken.push_back(fmt::format("activation_quant_params of '{}'", name));
        }
        m_result.taken.push_back(fmt::format("activations: {} bits, {}, {}", common.bits,
                                             common.symmetric ? "symmetric" : "affine",
                                             common.method == CalibrationMethod::Hfmg ? "hfmg" : "ifmr"));
        noteIdleOffset(common.symmetric);
    }

    /// Adds a message if activation_offset has no effect because every layer's `asymmetric` overrides it.
    void noteIdleOffset(bool symmetric) {
        const bool offset = m_document.activationOffset;
        for (const auto& [name, entry] : m_document.layers)
            if (entry.enabled && entry.activation.asymmetric.value_or(offset) == offset) return;
        m_result.taken.push_back(
            fmt::format("activation_offset {} has no effect, since every layer sets asymmetric to {}; an "
                        "export writes it as {}",
                        offset, !symmetric, !symmetric));
    }

    void takeWeights(const AmctWeight& common) {
        QuantizationConfig& config = m_result.config;
        config.quantization.weight.bits = common.bits;
        config.quantization.weight.perChannel = common.channelWise;
        bool learned = false, obsolete = false;
        for (const auto& [name, entry] : m_document.layers) {
            const std::string& op = m_graph.node(entry.node).op;
            if (op == "AveragePool") continue;
            learned = learned || (entry.enabled && entry.weight.algorithm == AmctWeightAlgorithm::Ada);
            obsolete = obsolete || entry.weight.algorithm == AmctWeightAlgorithm::Nuq;
            if (!entry.enabled && !entry.weightGiven) continue;
            if (entry.weight.bits != common.bits) config.layers[name].weightBits = entry.weight.bits;
            const bool product = op == "Gemm" || op == "MatMul";
            if (entry.weight.channelWise != (common.channelWise && !product))
                config.layers[name].weightPerChannel = entry.weight.channelWise;
        }
        config.refine.rounding = learned ? Rounding::Adaround : Rounding::Nearest;
        noteOtherRounding(learned);
        if (obsolete)
            m_result.left.emplace_back("wts_algo nuq_quantize is obsolete and becomes arq_quantize");
        m_result.taken.push_back(fmt::format("weights: {} bits, {}{}", common.bits,
                                             common.channelWise ? "per channel" : "per tensor",
                                             learned ? ", learned rounding in all layers" : ""));
    }

    /// Adds a message about float layers whose rounding differs from the one that the network gets.
    void noteOtherRounding(bool learned) {
        std::vector<std::string> names;
        for (const auto& [name, entry] : m_document.layers)
            if (!entry.enabled && entry.weight.algorithm != AmctWeightAlgorithm::Nuq &&
                m_graph.node(entry.node).op != "AveragePool" &&
                (entry.weight.algorithm == AmctWeightAlgorithm::Ada) != learned)
                names.push_back(name);
        if (!names.empty())
            m_result.left.push_back(
                fmt::format("wts_algo {} of layers in float is not kept, because rounding is set for the "
                            "whole network here: {}",
                            learned ? "arq_quantize" : "ada_quantize", shortList(names)));
    }

    /// Without a fixed batch size, batch_num does not determine the number of samples. One batch is the
    /// default of AMCT's generator.
    void takeBatches() {
        int& samples = m_result.config.calibration.samples;
        const auto size = amctBatchSize(m_graph);
        if (!m_document.batches) {  // as in the minimal format
            if (size)
                m_result.taken.push_back(
                    fmt::format("batch_num is not given: calibration.samples stays {}", samples));
            return;
        }
        const std::int64_t batches = *m_document.batches;
        if (size) {
            samples = static_cast<int>(std::min<std::int64_t>(batches * *size, kMostCalibrationSamples));
            m_result.taken.push_back(fmt::format("batch_num {}: calibration on {}", batches,
                                                 counted(static_cast<std::size_t>(samples), "sample")));
            return;
        }
        if (batches == 1) {
            m_result.taken.push_back(fmt::format(
                "batch_num 1: one batch of all calibration samples (calibration.samples stays {})", samples));
            return;
        }
        m_result.left.push_back(fmt::format(
            "batch_num {} counts batches, but this model has no fixed batch size; calibration.samples stays "
            "{}",
            batches, samples));
    }

    const Graph& m_graph;
    const AmctDocument m_document;
    ImportResult m_result;
    std::vector<ActivationTarget> m_targets;  ///< of the quantized layers
    std::vector<AmctWeight> m_convolutions, m_products;
};

}  // namespace

ImportResult readAmct(const ImportSource& source) { return AmctImport(source, parseAmct(source)).convert(); }

}  // namespace quantloupe
