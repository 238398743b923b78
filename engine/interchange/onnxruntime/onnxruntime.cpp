// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime: a script with quantize_static, and the float model that it quantizes.
//
// The script quantizes the transformed model, not the source model: batch norms are already folded and layers
// equalized, ONNX Runtime's pre-processing does not rename any node, and every name in nodes_to_exclude
// exists (the script checks this first). Ranges come from ONNX Runtime's own calibration if it has the
// method, otherwise TensorQuantOverrides contains the scales found here. Weights with a scheme that ONNX
// Runtime does not have always get their scales, because these need no data.

#include <algorithm>
#include <set>

#include "base/error.h"
#include "interchange/export_precisions.h"
#include "interchange/float_nodes.h"
#include "interchange/onnxruntime/onnxruntime_script.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "quantize/plan.h"

namespace quantloupe {
namespace {

/// Operators that quantize_static quantizes without op_types_to_quantize (onnxruntime 1.17 to 1.31).
const std::vector<std::string_view> kOperators = {"Add",
                                                  "ArgMax",
                                                  "AveragePool",
                                                  "BatchNormalization",
                                                  "Clip",
                                                  "Concat",
                                                  "Conv",
                                                  "ConvTranspose",
                                                  "CumSum",
                                                  "Flatten",
                                                  "Gather",
                                                  "GatherElements",
                                                  "Gemm",
                                                  "GlobalAveragePool",
                                                  "InstanceNormalization",
                                                  "LayerNormalization",
                                                  "LeakyRelu",
                                                  "MatMul",
                                                  "MaxPool",
                                                  "Mul",
                                                  "Pad",
                                                  "Relu",
                                                  "Reshape",
                                                  "Resize",
                                                  "Sigmoid",
                                                  "Slice",
                                                  "Softmax",
                                                  "Split",
                                                  "Squeeze",
                                                  "TopK",
                                                  "Transpose",
                                                  "Unsqueeze",
                                                  "Where"};

struct Method {
    std::string name;                  ///< of CalibrationMethod
    std::vector<std::string> options;  ///< of extra_options
    bool exact = true;                 ///< ONNX Runtime calibrates exactly as the preview does
};

Method methodFor(const CalibrationOptions& calibration) {
    const CalibrationParameters& p = calibration.parameters;
    switch (calibration.method) {
        case CalibrationMethod::MinMax:
            return {"MinMax", {}, true};
        case CalibrationMethod::Percentile:
            return {
                "Percentile",
                {fmt::format("\"CalibPercentile\": {}", pythonFloat(100 * p.percentile.value_or(0.99999)))},
                p.bins.value_or(2048) == 2048};
        case CalibrationMethod::Entropy:
            return {"Entropy", {}, p.bins.value_or(128) == 128 && p.quantizedBins.value_or(128) == 128};
        case CalibrationMethod::MovingAverage:
            return {"MinMax", {"\"CalibMovingAverage\": True"}, p.averagingConstant.value_or(0.01) == 0};
        default:
            return {"MinMax", {}, false};
    }
}

std::string activationType(const ActivationScheme& scheme) {
    const int bits = scheme.bits == 4 || scheme.bits == 16 ? scheme.bits : 8;
    return fmt::format("QuantType.Q{}Int{}", scheme.isSigned ? "" : "U", bits);
}

/// Returns the smallest named type that can store the codes.
std::string weightType(const WeightScheme& scheme) {
    return fmt::format("QuantType.Q{}Int{}", scheme.isSigned ? "" : "U",
                       scheme.bits <= 4   ? 4
                       : scheme.bits <= 8 ? 8
                                          : 16);
}

/// True for schemes for which ONNX Runtime computes the same scales itself.
bool isOwnScheme(const WeightScheme& scheme) {
    return scheme.bits == 8 && scheme.restricted && scheme.isSigned && scheme.symmetric &&
           !scheme.powerOfTwo && scheme.method == WeightMethod::MinMax;
}

bool isOwnWidth(int bits) { return bits == 4 || bits == 8 || bits == 16; }

class ScriptWriter {
  public:
    explicit ScriptWriter(const ExportSource& source)
        : m_source(source), m_config(source.config), m_method(methodFor(source.config.calibration)) {
        findLayers();
    }

    ExportResult write() {
        m_result.notices = ruleNotices(m_source, "ONNX Runtime");
        for (std::string& text : previewNotices(m_source, "ONNX Runtime"))
            m_result.notices.push_back(std::move(text));
        const std::vector<FloatNode> nodes = floatNodes(m_source);
        m_excluded = namesOf(nodes, kOperators);
        collectWeights();
        collectActivations();
        noteScheme();
        for (std::string& text : unknownOperatorNotices(m_source, "ONNX Runtime", kOperators))
            m_result.notices.push_back(std::move(text));
        const std::string ending = ".float.onnx";
        m_result.files.push_back({"", script(m_source.output.stem().string() + ending), nullptr, true});
        m_result.files.push_back({ending, "", m_source.prepared->transformed, false});
        return std::move(m_result);
    }

  private:
    void findLayers() {
        for (const LayerResult& layer : m_source.layers)
            if (layer.state == LayerState::Quantized) m_quantized.insert(layer.name);
        m_units = findUnits(*m_source.prepared, resolveSkips(*m_source.prepared->source, m_config));
    }

    const std::string& layerOf(const Unit& unit) const {
        return m_source.prepared->source->node(m_source.prepared->sourceOf.at(unit.layer.index())).name;
    }

    void collectWeights() {
        const WeightScheme& common = m_config.quantization.weight;
        std::set<std::string> done;
        QuantizerCache cache;
        for (const Unit& unit : m_units.units) {
            if (!unit.quantized || !unit.weight.valid()) continue;
            const WeightScheme scheme = weightSchemeOf(m_config, m_config.settingsOf(layerOf(unit)),
                                                       m_source.prepared->graph->node(unit.layer));
            if (isOwnScheme(scheme) && scheme.perChannel == common.perChannel) continue;
            const std::string& tensor = m_source.prepared->graph->tensor(unit.weight).name;
            if (!done.insert(tensor).second) continue;
            const auto quantizer = quantizedWeight(*m_source.prepared, unit, m_config, cache);
            const std::string type = weightType(scheme);
            const std::string& name = pythonString(tensor);
            if (quantizer->axis < 0)
                m_overrides.push_back(fmt::format(
                    "{}: tensor({}, {}, {})", name, type,
                    pythonFloats(quantizer->scales).substr(1, pythonFloats(quantizer->scales).size() - 2),
                    quantizer->zeroPoints.at(0)));
            else
                m_overrides.push_back(fmt::format("{}: channels({}, {}, {}, [{}])", name, type,
                                                  quantizer->axis, pythonFloats(quantizer->scales),
                                                  fmt::join(quantizer->zeroPoints, ", ")));
            if (!isOwnWidth(scheme.bits)) m_oddWeights.push_back(layerOf(unit));
        }
    }

    /// Returns whether ONNX Runtime's own calibration gives a tensor with these settings the same range as
    /// the preview.
    bool ownActivation(const LayerSettings* settings) const {
        const TensorCalibration mine = tensorCalibrationOf(m_config, settings);
        const TensorCalibration common = tensorCalibrationOf(m_config, nullptr);
        return m_method.exact && mine.method == common.method && mine.parameters == common.parameters &&
               mine.scheme == common.scheme && !mine.scheme.powerOfTwo;
    }

    void collectActivations() {
        const std::vector<std::size_t> owners = scaleOwners(m_units);
        std::map<TensorId, const LayerSettings*> makers;  // settings of the layers that produce the tensors
        for (std::size_t u = 0; u < m_units.units.size(); ++u)
            makers[m_units.units[u].output] = m_config.settingsOf(layerOf(m_units.units[owners[u]]));
        std::set<TensorId> tensors;
        for (const Unit& unit : m_units.units) {
            if (!unit.quantized) continue;
            for (const TensorId input : unit.inputs) tensors.insert(origin(input));
            tensors.insert(unit.output);
        }
        findConversions();
        if (m_source.plan) m_quantizers = sharedQuantizers(*m_source.plan);
        for (const TensorId tensor : tensors) {
            const auto maker = makers.find(tensor);
            const LayerSettings* settings = maker == makers.end() ? nullptr : maker->second;
            ActivationScheme scheme = tensorCalibrationOf(m_config, settings).scheme;
            const auto bits = m_source.prepared->activationBits.find(tensor);
            const bool ownBits = bits != m_source.prepared->activationBits.end();
            if (ownBits) scheme.bits = bits->second;
            if (ownActivation(settings) && !ownBits && !m_conversions.contains(tensor)) continue;
            addActivation(tensor, scheme);
        }
    }

    /// Returns the tensor of the exported model that a conversion reads, or the tensor itself.
    TensorId origin(TensorId tensor) const {
        const Graph& graph = *m_source.prepared->graph;
        const NodeId maker = graph.tensor(tensor).producer;
        return m_source.prepared->conversions.contains(maker) ? graph.node(maker).input(0) : tensor;
    }

    /// Finds the conversions between quantized layers. In ONNX Runtime, a tensor can have only one.
    void findConversions() {
        const Graph& graph = *m_source.prepared->graph;
        std::set<TensorId> produced;  // quantized where they are produced
        for (const Unit& unit : m_units.units)
            if (unit.quantized && unit.quantizesOutput) produced.insert(unit.output);
        for (const NodeId id : m_source.prepared->conversions) {
            const TensorId from = graph.node(id).input(0), to = graph.node(id).output();
            const int bits = m_source.prepared->activationBits.at(to);
            if (bits == kFloat16Bits) continue;
            if (!produced.contains(from) || !isOwnWidth(bits) || !m_conversions.emplace(from, id).second)
                m_leftConversions.push_back(graph.tensor(from).name);
        }
    }

    /// Returns the key "convert" of an override; empty without a conversion.
    std::string conversionOf(TensorId tensor, ActivationScheme scheme) const {
        const auto found = m_conversions.find(tensor);
        if (found == m_conversions.end()) return {};
        const Graph& graph = *m_source.prepared->graph;
        const TensorId to = graph.node(found->second).output();
        scheme.bits = m_source.prepared->activationBits.at(to);
        std::vector<std::string> readers;
        for (const NodeId reader : graph.tensor(to).consumers)
            readers.push_back(pythonString(graph.node(reader).name));
        std::string values;
        if (m_source.plan) {
            const TensorQuantizer& q = m_source.plan->tensors.at(to);
            const std::string scale = pythonFloats({q.scale});
            values = fmt::format(", \"scale\": np.array({}, np.float32), \"zero_point\": np.array({})",
                                 scale.substr(1, scale.size() - 2), q.zeroPoint);
        }
        return fmt::format("{{\"quant_type\": {}{}, \"recv_nodes\": {{{}}}}}", activationType(scheme), values,
                           fmt::join(readers, ", "));
    }

    void addActivation(TensorId tensor, const ActivationScheme& scheme) {
        const std::string conversion = conversionOf(tensor, scheme);
        const std::string& name = m_source.prepared->graph->tensor(tensor).name;
        if (!isOwnWidth(scheme.bits)) {
            m_oddActivations.push_back(name);
            return;
        }
        if (!m_source.plan) {
            ++m_uncalibrated;
            if (scheme == m_config.quantization.activation && conversion.empty()) return;
            m_overrides.push_back(fmt::format("{}: [{{\"quant_type\": {}, \"symmetric\": {}{}}}]",
                                              pythonString(name), activationType(scheme),
                                              pythonBool(scheme.symmetric),
                                              conversion.empty() ? "" : ", \"convert\": " + conversion));
            return;
        }
        const auto found = m_quantizers.find(tensor);
        if (found == m_quantizers.end()) return;
        const TensorQuantizer& q = found->second;
        const std::string scale = pythonFloats({q.scale});
        const std::string own = fmt::format("tensor({}, {}, {})", activationType(scheme),
                                            scale.substr(1, scale.size() - 2), q.zeroPoint);
        m_overrides.push_back(conversion.empty() ? fmt::format("{}: {}", pythonString(name), own)
                                                 : fmt::format("{}: [{{**{}[0], \"convert\": {}}}]",
                                                               pythonString(name), own, conversion));
    }

    void noteScheme() {
        auto& notices = m_result.notices;
        const QuantizationOptions& q = m_config.quantization;
        if (!m_oddWeights.empty())
            notices.push_back(fmt::format(
                "ONNX Runtime's weights have 4, 8 or 16 bits: other widths are stored in the next "
                "larger type with the scale of their own width: {}",
                shortList(m_oddWeights)));
        if (!isOwnWidth(q.activation.bits))
            notices.push_back(fmt::format("ONNX Runtime's activations have 4, 8 or 16 bits: {} become 8",
                                          q.activation.bits));
        else if (!m_oddActivations.empty())
            notices.push_back("ONNX Runtime's activations have 4, 8 or 16 bits: other widths become " +
                              std::to_string(q.activation.bits));
        if (!m_leftConversions.empty())
            notices.push_back(
                fmt::format("ONNX Runtime converts a tensor that is quantized where it is produced, to one "
                            "other precision of "
                            "4, 8 or 16 bits: other conversions are left out: {}",
                            shortList(m_leftConversions)));
        if (m_uncalibrated > 0)
            notices.push_back(
                fmt::format("ONNX Runtime does not have this calibration method: {} will have other scales "
                            "than the preview; "
                            "provide calibration data to export the scales found here",
                            counted(m_uncalibrated, "tensor")));
        if (q.activation.symmetric)
            notices.push_back(
                "with symmetric activations ONNX Runtime also quantizes between a layer and the Relu or Clip "
                "after it, "
                "unlike the preview");
        if (q.biasBits != 32 && q.biasBits != kFloatBias)
            notices.push_back(fmt::format("ONNX Runtime's biases have 32 bits, not {}", q.biasBits));
        const auto changes = otherTransforms(m_config);
        if (!changes.empty())
            notices.push_back(
                fmt::format("ONNX Runtime has no {}: the exported float model already includes it",
                            fmt::join(changes, ", no ")));
    }

    std::string script(const std::string& model) const {
        const QuantizationOptions& q = m_config.quantization;
        std::vector<std::string> options = m_method.options;
        if (q.activation.symmetric) options.push_back("\"ActivationSymmetric\": True");
        if (q.biasBits == kFloatBias) options.push_back("\"QuantizeBias\": False");
        if (!m_overrides.empty()) options.push_back("\"TensorQuantOverrides\": TENSOR_QUANT_OVERRIDES");
        return quantizeStaticScript(m_source, model,
                                    {m_method.name, activationType(q.activation), commonWeightType(),
                                     q.weight.perChannel, std::move(options), m_excluded, m_overrides});
    }

    /// Other widths are set per tensor in the overrides.
    std::string commonWeightType() const {
        return m_config.quantization.weight.isSigned ? "QuantType.QInt8" : "QuantType.QUInt8";
    }

    const ExportSource& m_source;
    const QuantizationConfig& m_config;
    Method m_method;
    UnitList m_units;
    std::set<std::string> m_quantized;
    std::vector<std::string> m_excluded, m_overrides, m_oddWeights, m_oddActivations;
    std::size_t m_uncalibrated = 0;
    std::map<TensorId, NodeId> m_conversions;  ///< those that are exported, by the tensor that they read
    std::map<TensorId, TensorQuantizer> m_quantizers;
    std::vector<std::string> m_leftConversions;
    ExportResult m_result;
};

}  // namespace

ExportResult writeOnnxRuntime(const ExportSource& source) { return ScriptWriter(source).write(); }

}  // namespace quantloupe
