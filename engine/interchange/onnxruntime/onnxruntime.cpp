// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime: a script with quantize_static, and the float model that it quantizes.
//
// The script quantizes the transformed model, not the source model: batch norms are already folded and layers
// equalized, ONNX Runtime's pre-processing does not rename any node, and every name in nodes_to_exclude
// exists (the script checks this first). Ranges come from ONNX Runtime's own calibration if it has the
// method, otherwise TensorQuantOverrides contains the scales found here. Weights with a scheme that ONNX
// Runtime does not have always get their scales, because these need no data.

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/is_one_of.h"
#include "base/text.h"
#include "interchange/export_precisions.h"
#include "interchange/float_nodes.h"
#include "interchange/onnxruntime/float_model.h"
#include "interchange/onnxruntime/onnxruntime_notices.h"
#include "interchange/onnxruntime/onnxruntime_script.h"
#include "interchange/onnxruntime/quant_types.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "model/clip_bounds.h"
#include "model/operator_traits.h"
#include "quantize/plan.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

/// True for schemes for which ONNX Runtime computes the same scales itself.
bool isOwnScheme(const WeightScheme& scheme) {
    return scheme.bits == 8 && scheme.restricted && scheme.isSigned && scheme.symmetric &&
           !scheme.powerOfTwo && scheme.method == WeightMethod::MinMax;
}

/// Returns whether a weight may have values beyond the range of its codes.
bool saturates(const WeightScheme& scheme) {
    return scheme.powerOfTwo || scheme.method != WeightMethod::MinMax;
}

class ScriptWriter {
  public:
    explicit ScriptWriter(const ExportSource& source)
        : m_source(source),
          m_config(source.config),
          m_method(quantizeStaticMethod(source.config.calibration)) {
        m_units = findUnits(*m_source.prepared, resolveSkips(*m_source.prepared->source, m_config));
    }

    ExportResult write() {
        m_result.notices = ruleNotices(m_source, "ONNX Runtime");
        append(m_result.notices, previewNotices(m_source, "ONNX Runtime"));
        append(m_result.notices, saturationNotices(m_source.config, m_units, false));
        const std::vector<FloatNode> nodes = floatNodes(m_source);
        m_excluded = namesOf(nodes, quantizeStaticOperators());
        collectWeights();
        findLeftLayers();
        collectActivations();
        collectKept();
        append(m_result.notices, schemeNotices(m_source, m_losses));
        append(m_result.notices, unknownOperatorNotices(m_source, "ONNX Runtime", quantizeStaticOperators()));
        const std::string ending = ".float.onnx";
        m_result.files.push_back({"", script(m_source.output.stem().string() + ending), nullptr, true});
        m_result.files.push_back(
            {ending, "", floatModelFor(*m_source.prepared, m_units, m_perChannel, m_sixteenBits), false});
        return std::move(m_result);
    }

  private:
    const std::string& layerOf(const Unit& unit) const {
        return m_source.prepared->source->node(m_source.prepared->sourceOf.at(unit.layer.index())).name;
    }

    /// ONNX Runtime expects as many scales of the weight as there are biases, but there is one per channel of
    /// a group.
    bool hasUnknownBiasScale(const Node& node) const {
        return node.op == "ConvTranspose" && node.attributes.integer("group", 1) > 1 &&
               node.input(2).valid() && m_config.quantization.biasBits != kFloatBias;
    }

    void collectWeights() {
        const WeightScheme& common = m_config.quantization.weight;
        std::set<std::string> done;
        QuantizerCache cache;
        for (const Unit& unit : m_units.units) {
            if (!unit.quantized || !unit.weight.valid()) continue;
            const WeightScheme scheme = weightSchemeOf(m_config, m_config.settingsOf(layerOf(unit)),
                                                       m_source.prepared->graph->node(unit.layer));
            if (const Node& node = m_source.prepared->graph->node(unit.layer);
                scheme.perChannel && hasUnknownBiasScale(node)) {
                m_excluded.push_back(node.name);
                m_losses.unknownBiases.push_back(layerOf(unit));
                continue;
            }
            m_perChannel = m_perChannel || scheme.perChannel;
            if (isOwnScheme(scheme) && scheme.perChannel == common.perChannel) continue;
            const std::string& tensor = m_source.prepared->graph->tensor(unit.weight).name;
            if (!done.insert(tensor).second) continue;
            addConstant(tensor, *quantizedWeight(*m_source.prepared, unit, m_config, cache),
                        saturates(scheme));
            if (!isOwnWidth(scheme.bits)) m_losses.oddWeights.push_back(layerOf(unit));
        }
        collectConstants(done);
    }

    /// Adds the scales of other quantized constants: operands, scales of normalizations.
    void collectConstants(std::set<std::string>& done) {
        if (!m_source.plan) return;
        const Graph& graph = *m_source.prepared->graph;
        for (std::size_t u = 0; u < m_units.units.size(); ++u) {
            const Unit& unit = m_units.units[u];
            if (!unit.quantized) continue;
            const LayerSettings* settings = m_config.settingsOf(layerOf(unit));
            for (std::size_t i = 0; i < unit.constants.size(); ++i) {
                const UnitConstant& constant = unit.constants[i];
                const auto& quantizer = m_source.plan->quantizers.at(u).constants.at(i);
                if (!quantizer || constant.role == ConstantRole::NormBias) continue;
                m_perChannel = m_perChannel || quantizer->axis >= 0;
                const bool operand = constant.role == ConstantRole::Operand,
                           matrix = constant.role == ConstantRole::Matrix;
                const WeightScheme scheme = weightSchemeOf(m_config, settings, graph.node(unit.layer));
                const bool sameChannels = scheme.perChannel == m_config.quantization.weight.perChannel;
                const bool own =
                    operand ? ownActivation(settings) : isOwnScheme(scheme) && (!matrix || sameChannels);
                if (const std::string& tensor = graph.tensor(constant.tensor).name;
                    !own && done.insert(tensor).second)
                    addConstant(tensor, *quantizer, operand || saturates(scheme));
            }
        }
    }

    /// `saturates`: values may be beyond the range of the codes.
    void addConstant(const std::string& tensor, const ConstantQuantizer& quantizer, bool saturates) {
        const std::string type = constantType(quantizer), name = pythonString(tensor);
        m_sixteenBits = m_sixteenBits || bitsOfType(quantizer.bits) == 16;
        if (quantizer.axis < 0)
            m_overrides.push_back(fmt::format("{}: tensor({}, {}, {})", name, type,
                                              pythonFloat32(quantizer.scales.at(0)),
                                              quantizer.zeroPoints.at(0)));
        else
            m_overrides.push_back(fmt::format("{}: channels({}, {}, {}, [{}])", name, type, quantizer.axis,
                                              pythonFloats(quantizer.scales),
                                              fmt::join(quantizer.zeroPoints, ", ")));
        // ONNX Runtime saturates at the ends of the type.
        const int codes = 1 << bitsOfType(quantizer.bits);
        if (saturates && quantizer.quantMax - quantizer.quantMin + 1 < codes)
            m_codes.push_back(fmt::format("{}: ({}, {})", name, quantizer.quantMin, quantizer.quantMax));
    }

    /// Returns whether ONNX Runtime has the calibration method of a tensor with these settings.
    bool hasMethod(const LayerSettings* settings) const {
        const TensorCalibration mine = tensorCalibrationOf(m_config, settings);
        const TensorCalibration common = tensorCalibrationOf(m_config, nullptr);
        return m_method.same && !m_config.calibration.quantizedWeights && mine.method == common.method &&
               mine.parameters == common.parameters;
    }

    /// Returns whether ONNX Runtime's own calibration serves a tensor with these settings: with data, it must
    /// find the same scale as the preview; without data, having the method is enough.
    bool ownActivation(const LayerSettings* settings) const {
        const ActivationScheme mine = tensorCalibrationOf(m_config, settings).scheme;
        // For unsigned symmetric codes, it divides the range by one step more.
        return hasMethod(settings) && (m_method.exact || !m_source.plan) &&
               m_config.quantization.npuPositions == NpuPositions{} &&
               mine == tensorCalibrationOf(m_config, nullptr).scheme && !mine.powerOfTwo &&
               (mine.isSigned || !mine.symmetric);
    }

    void collectActivations() {
        m_makers = settingsByOutput(m_config, *m_source.prepared, m_units);
        std::set<TensorId> tensors;
        for (const Unit& unit : m_units.units) {
            if (!unit.quantized) continue;
            for (const TensorId input : unit.inputs) tensors.insert(sharedTensor(*m_source.prepared, input));
            tensors.insert(unit.output);
        }
        findConversions();
        if (m_source.plan) {
            m_quantizers = sharedQuantizers(*m_source.plan);
            findUnequalReaders();
        }
        for (const TensorId tensor : tensors) {
            const bool ownBits = m_source.prepared->activationBits.contains(tensor);
            const ActivationScheme scheme = schemeOf(tensor);
            if (ownActivation(makerOf(tensor)) && !ownBits && !m_conversions.contains(tensor) &&
                !m_leftOutputs.contains(tensor) && scheme.bits == m_config.quantization.activation.bits)
                continue;
            addActivation(tensor, scheme);
        }
    }

    /// Finds the tensors that layers read through own inputs with different quantizers.
    void findUnequalReaders() {
        const Plan& plan = *m_source.plan;
        if (plan.prepared->placement != Placement::WeightedInputs) return;
        for (const auto& [tensor, quantizer] : plan.tensors) {
            const TensorId shared = sharedTensor(*plan.prepared, tensor);
            const auto common = m_quantizers.find(shared);
            if (common != m_quantizers.end() && common->second != quantizer)
                m_losses.unequalReaders.insert(plan.prepared->graph->tensor(shared).name);
        }
    }

    /// Returns the settings of the layer that produces the tensor; null if it has none.
    const LayerSettings* makerOf(TensorId tensor) const {
        const auto maker = m_makers.find(tensor);
        return maker == m_makers.end() ? nullptr : maker->second;
    }
    ActivationScheme schemeOf(TensorId tensor) const {
        ActivationScheme scheme = tensorCalibrationOf(m_config, makerOf(tensor)).scheme;
        const auto bits = m_source.prepared->activationBits.find(tensor);
        if (bits != m_source.prepared->activationBits.end()) scheme.bits = bits->second;
        // Layers that read the tensor may have other settings.
        if (const auto found = m_quantizers.find(tensor); found != m_quantizers.end()) {
            scheme.bits = widthOf(found->second);
            scheme.isSigned = found->second.quantMin < 0;
        }
        return scheme;
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
            // An output of the model would be returned after the conversion.
            if (!produced.contains(from) || graph.tensor(from).graphOutput || !isOwnActivationWidth(bits) ||
                !m_conversions.emplace(from, id).second)
                m_losses.leftConversions.insert(graph.tensor(from).name);
            else
                m_sixteenBits = m_sixteenBits || bits == 16;
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
            values = fmt::format(", \"scale\": np.array({}, np.float32), \"zero_point\": np.array({})",
                                 pythonFloat32(q.scale), q.zeroPoint);
        }
        return fmt::format("{{\"quant_type\": {}{}, \"recv_nodes\": {{{}}}}}", activationType(scheme), values,
                           fmt::join(readers, ", "));
    }

    /// Finds the Relu and Clip nodes that the script must keep without a quantizer before them. For affine
    /// activations, ONNX Runtime removes them and relies on the range of the quantizer, which may be wider
    /// than theirs. For symmetric activations and conversions, it quantizes their inputs.
    void collectKept() {
        const Graph& graph = *m_source.prepared->graph;
        for (const Unit& unit : m_units.units) {
            if (!unit.quantized || !unit.quantizesOutput || !unit.activation.valid()) continue;
            const Node& node = graph.node(unit.activation);
            const auto bounds = clipBounds(graph, node);
            if (bounds && (keepsRemovable() || m_conversions.contains(unit.output) ||
                           !clipsAlike(unit.output, *bounds)))
                m_kept.push_back(node.name);
        }
    }

    /// Finds the layers that are quantized because their input is, but that come before the layer that
    /// quantizes it. ONNX Runtime leaves them in float.
    void findLeftLayers() {
        const Graph& graph = *m_source.prepared->graph;
        std::set<TensorId> quantized;
        for (const Unit& unit : m_units.units) {
            const Node& node = graph.node(unit.layer);
            if (!unit.quantized || isOneOf(node.name, m_excluded)) continue;
            TensorId input = sharedTensor(*m_source.prepared, unit.inputs.at(0));
            if (const NodeId maker = graph.tensor(input).producer;
                m_source.prepared->conversions.contains(maker))
                input = graph.node(maker).input(0);
            if ((isClipping(node) || (followsInput(unit) && node.op != "Split")) &&
                !quantized.contains(input)) {
                m_losses.leftLayers.push_back(layerOf(unit));
                m_leftOutputs.insert(unit.output);
                m_leftOutputs.insert(unit.otherOutputs.begin(), unit.otherOutputs.end());
                continue;
            }
            for (const TensorId read : unit.inputs) quantized.insert(sharedTensor(*m_source.prepared, read));
            quantized.insert(unit.otherOutputs.begin(), unit.otherOutputs.end());
            if (unit.quantizesOutput) quantized.insert(unit.output);
        }
    }

    /// Returns whether ONNX Runtime keeps every Relu and Clip.
    bool keepsRemovable() const {
        return m_config.quantization.activation.symmetric ||
               std::ranges::any_of(m_units.units, [&](const Unit& unit) {
                   return unit.quantized && isClipping(m_source.prepared->graph->node(unit.layer));
               });
    }

    /// Returns whether the quantizer of the tensor saturates at the bounds.
    bool clipsAlike(TensorId tensor, const ClipBounds& bounds) const {
        if (!m_source.plan) {
            const ActivationScheme scheme = schemeOf(tensor);
            return !scheme.symmetric && !scheme.powerOfTwo;
        }
        const auto found = m_quantizers.find(tensor);
        if (found == m_quantizers.end()) return true;
        const TensorQuantizer& q = found->second;
        const double scale = static_cast<double>(q.scale);
        return std::nearbyint(bounds.low / scale) + q.zeroPoint <= q.quantMin &&
               std::nearbyint(bounds.high / scale) + q.zeroPoint >= q.quantMax;
    }

    void addActivation(TensorId tensor, const ActivationScheme& scheme) {
        const std::string conversion = conversionOf(tensor, scheme);
        const std::string& name = m_source.prepared->graph->tensor(tensor).name;
        if (!isOwnActivationWidth(scheme.bits)) {
            m_losses.oddActivations.push_back(name);
            return;
        }
        m_sixteenBits = m_sixteenBits || scheme.bits == 16;
        if (!m_source.plan) {
            const bool otherFormula = scheme.powerOfTwo || (scheme.symmetric && !scheme.isSigned);
            if (!hasMethod(makerOf(tensor)) || otherFormula) ++m_losses.uncalibrated;
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
        const std::string own =
            fmt::format("tensor({}, {}, {})", activationType(scheme), pythonFloat32(q.scale), q.zeroPoint);
        m_overrides.push_back(conversion.empty() ? fmt::format("{}: {}", pythonString(name), own)
                                                 : fmt::format("{}: [{{**{}[0], \"convert\": {}}}]",
                                                               pythonString(name), own, conversion));
    }

    std::string script(const std::string& model) const {
        const QuantizationOptions& q = m_config.quantization;
        std::vector<std::string> options = m_method.options;
        if (q.activation.symmetric) options.push_back("\"ActivationSymmetric\": True");
        if (!q.activation.symmetric && keepsRemovable())
            options.push_back("\"QDQKeepRemovableActivations\": True");
        if (q.biasBits == kFloatBias) options.push_back("\"QuantizeBias\": False");
        if (!m_overrides.empty()) options.push_back("\"TensorQuantOverrides\": TENSOR_QUANT_OVERRIDES");
        return quantizeStaticScript(
            m_source, model,
            {m_method.name, activationType(q.activation), commonWeightType(), q.weight.perChannel,
             std::move(options), m_excluded, m_overrides, m_kept, m_codes});
    }

    /// Other widths are set per tensor in the overrides, and so are unsigned weights. ONNX Runtime refuses
    /// them as the common type next to signed activations.
    std::string commonWeightType() const {
        const QuantizationOptions& q = m_config.quantization;
        return q.weight.isSigned || q.activation.isSigned ? "QuantType.QInt8" : "QuantType.QUInt8";
    }

    const ExportSource& m_source;
    const QuantizationConfig& m_config;
    QuantizeStaticMethod m_method;
    UnitList m_units;
    std::vector<std::string> m_excluded, m_overrides, m_kept, m_codes;
    SchemeLosses m_losses;
    bool m_sixteenBits = m_config.quantization.activation.bits == 16;  ///< some codes have 16 bits
    bool m_perChannel = false;                 ///< a quantized layer has weights with scales per channel
    std::map<TensorId, NodeId> m_conversions;  ///< those that are exported, by the tensor that they read
    std::map<TensorId, TensorQuantizer> m_quantizers;
    std::set<TensorId> m_leftOutputs;                   ///< outputs of m_losses.leftLayers
    std::map<TensorId, const LayerSettings*> m_makers;  ///< by output, the settings that determine its scale
    ExportResult m_result;
};

}  // namespace

ExportResult writeOnnxRuntime(const ExportSource& source) { return ScriptWriter(source).write(); }

}  // namespace quantloupe
