// SPDX-License-Identifier: Apache-2.0
#include "quantize/units.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/operator_traits.h"
#include "model/pad_value.h"
#include "model/quantized_model.h"
#include "quantize/float_layers.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

bool isRecurrent(const Node& node) { return traitsOf(node).kind == OperatorKind::Recurrent; }

class UnitFinder {
  public:
    UnitFinder(const Prepared& prepared, const SkipDecisions& skips)
        : m_prepared(prepared),
          m_graph(*prepared.graph),
          m_skips(skips),
          m_all(
              (prepared.operators == OperatorSet::OnnxRuntime || prepared.operators == OperatorSet::Quark) &&
              prepared.placement == Placement::InputsAndOutputs),
          m_floatLayers(m_graph, prepared.operators) {}

    UnitList find() {
        const std::size_t count = m_graph.nodeCount();
        m_list.unitOf.resize(count);
        m_list.reasons.resize(count);
        if (quantizationOperators(m_graph) > 0) {
            m_list.reasons.assign(count, "the model is quantized already");
            return std::move(m_list);
        }
        for (std::size_t n = 0; n < count; ++n)
            if (!m_list.unitOf[n]) visit(NodeId(n));
        decidePassing();
        return std::move(m_list);
    }

  private:
    bool skipped(NodeId node) const { return m_skips.skipped(m_prepared.sourceOf[node.index()]); }
    const std::string& skipReason(NodeId node) const {
        return m_skips.reasons[m_prepared.sourceOf[node.index()].index()];
    }

    void visit(NodeId id) {
        const Node& node = m_graph.node(id);
        Unit unit;
        unit.layer = id;
        unit.output = node.output();
        std::string& reason = m_list.reasons[id.index()];
        if (!m_prepared.unevaluated.empty() && !m_prepared.unevaluated[id.index()].empty()) {
            reason = "not evaluated: " + m_prepared.unevaluated[id.index()];
            return;
        }
        if (!node.domain.empty()) {
            reason = "the operator " + node.domain + "." + node.op + " cannot be quantized";
            return;
        }
        if (m_prepared.conversions.contains(id)) {
            reason = "it converts a tensor to another precision";
            return;
        }
        if (m_prepared.migrationFactors.contains(id)) {
            reason = "it divides by the factors of outlier migration";
            return;
        }
        if (isFactor(id)) {
            reason = "it belongs to a layer that stays in float";
            return;
        }
        reason = m_floatLayers.reasonFor(node);
        if (!reason.empty()) return;
        const OutputScale scale = outputScale(node);
        if (m_all && node.op == "MatMul" && m_graph.constantOf(node.input(1)) == nullptr)
            reason = arithmetic(node, unit);
        else if (multipliesWeight(node))
            reason = weighted(node, unit);
        else if (m_prepared.placement == Placement::WeightedInputs)
            reason = inputOnly(node, unit);
        else if (isRecurrent(node))
            reason = recurrent(node, unit);
        else if (scale == OutputScale::Own)
            reason = arithmetic(node, unit);
        else if (scale == OutputScale::FromInput)
            reason = passing(node, unit);
        else if (scale == OutputScale::Normalized)
            reason = normalization(node, unit);
        else if (isClipping(node) && ownActivation(node))
            reason = activation(node, unit);
        else if (isClipping(node))
            reason = "an activation stays in float unless it directly follows a quantized layer";
        else if (node.op == "BatchNormalization")
            reason = "a batch normalization stays in float unless it is folded";
        else
            reason = node.op + " is not a quantizable type";
        if (reason.empty() && !unit.output.valid()) reason = "its first output is not used";
        if (!reason.empty()) return;
        if (m_graph.tensor(unit.output).type != DataType::Float32 &&
            m_graph.tensor(unit.output).type != DataType::Undefined) {
            reason = "it computes integers, not activations";
            return;
        }

        unit.quantizesOutput = m_prepared.placement != Placement::WeightedInputs && !isRecurrent(node);
        unit.skipped = skipped(id);
        unit.float16 = m_skips.inFloat16(m_prepared.sourceOf[id.index()]);
        unit.quantized = !unit.skipped;
        if (unit.skipped) unit.reason = skipReason(id);
        const bool clippedRange = keepsApart() && m_prepared.placement == Placement::InputsAndOutputs &&
                                  unit.kind != UnitKind::PassesScale;
        if (clippedRange || canFuseActivation(node))
            fuseActivation(unit);
        else
            fuseFactor(unit);
        const std::size_t index = m_list.units.size();
        m_list.unitOf[id.index()] = index;
        if (unit.activation.valid()) m_list.unitOf[unit.activation.index()] = index;
        m_list.units.push_back(std::move(unit));
    }

    void fuseActivation(Unit& unit) {
        const NodeId next = m_graph.onlyConsumer(unit.output);
        if (!next.valid() || (unit.quantized && skipped(next))) return;
        const Node& node = m_graph.node(next);
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            if (node.inputs[i].valid() && m_graph.constantOf(node.inputs[i]) == nullptr) return;
        if (isClipping(node) && ownActivation(node)) {
            if (keepsApart()) unit.rangeOf = node.output();
            return;
        }
        const bool sloped =
            m_prepared.operators == OperatorSet::Quark && traitsOf(node).kind == OperatorKind::Slope;
        if ((!sloped && !isClipping(node)) || node.input(0) != unit.output) return;
        unit.activation = next;
        unit.output = node.output();
    }

    bool aimet() const { return m_prepared.operators == OperatorSet::Aimet; }
    /// Returns whether Relu and Clip are never fused: as in ONNX Runtime's quantizer, a symmetric quantizer
    /// cannot clip at 0 in place of a Relu.
    bool keepsApart() const {
        return m_prepared.operators == OperatorSet::OnnxRuntime && m_prepared.symmetricActivations;
    }

    /// Returns whether a Relu or Clip is a separate unit with quantizers before and after it.
    bool ownActivation(const Node& node) const {
        if (!node.domain.empty() || m_prepared.placement != Placement::InputsAndOutputs) return false;
        if (keepsApart()) return true;
        if (!aimet()) return false;
        const NodeId maker = node.input(0).valid() ? m_graph.tensor(node.input(0)).producer : NodeId();
        if (!maker.valid() || m_graph.onlyConsumer(node.input(0)) == NodeId()) return true;
        const Node& before = m_graph.node(maker);
        return (!multipliesWeight(before) && before.op != "Add") || isDepthwise(m_graph, before);
    }

    std::string activation(const Node& node, Unit& unit) {
        unit.kind = UnitKind::Arithmetic;
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its input is constant";
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            if (node.inputs[i].valid() && m_graph.constantOf(node.inputs[i]) == nullptr)
                return "its bounds are not constant";
        unit.inputs = {node.input(0)};
        unit.ifInputIs = keepsApart();
        // AIMET has one quantizer for the input and output of a Relu, with the wider range of the input.
        if (aimet() && node.op == "Relu") unit.rangeOf = node.input(0);
        return {};
    }

    /// Returns whether the node is a factor after a layer that is not a unit; factors of units are part of
    /// them.
    bool isFactor(NodeId id) const {
        const Node& node = m_graph.node(id);
        const NodeId maker = node.input(0).valid() ? m_graph.tensor(node.input(0)).producer : NodeId();
        return node.op == "Mul" && maker.valid() && !m_prepared.conversions.contains(maker) &&
               m_prepared.sourceOf[maker.index()] == m_prepared.sourceOf[id.index()];
    }

    /// Fuses the factor by which the NPU multiplies a mean or a HardSigmoid (transform/npu_operators.h).
    void fuseFactor(Unit& unit) {
        const NodeId next = m_graph.onlyConsumer(unit.output);
        if (!next.valid() || m_prepared.sourceOf[next.index()] != m_prepared.sourceOf[unit.layer.index()])
            return;
        unit.activation = next;
        unit.output = m_graph.node(next).output();
    }

    bool padsOtherThanZero(const Node& node) const {
        return node.op == "Pad" && node.attributes.text("mode", "constant") == "constant" &&
               padValue(m_graph, node) != 0.0;
    }

    OutputScale outputScale(const Node& node) const {
        const OperatorTraits& traits = traitsOf(node);
        switch (m_prepared.operators) {
            case OperatorSet::Layers:
                return traits.layers;
            case OperatorSet::OnnxRuntime:
                if (padsOtherThanZero(node)) return OutputScale::Own;  // may be outside the input's range
                return traits.onnxRuntime;
            case OperatorSet::Quark:
                return traits.quark;
            case OperatorSet::Aimet:
                return traits.aimet;
        }
        return OutputScale::None;
    }

    std::string weighted(const Node& node, Unit& unit) {
        unit.kind = UnitKind::Weighted;
        const bool product = node.op == "MatMul";
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its first input is constant";
        if (!isFloatConstant(m_graph, node.input(1))) return notConstant(m_graph, node.input(1), "weight");
        const std::size_t rank = m_graph.constantOf(node.input(1))->dims().size();
        if (product && rank != 2) return "its weight is not a matrix";
        unit.weight = node.input(1);
        unit.inputs = {node.input(0)};
        unit.weightAxis = 0;
        // The weight of a ConvTranspose is [inputs, outputs / group, kernel...]; its groups share scales.
        const bool transposed = node.op == "ConvTranspose";
        if (product || transposed) unit.weightAxis = 1;
        if (node.op == "Gemm") {
            if (node.attributes.integer("transA", 0) != 0) return "its input is transposed (transA)";
            if (node.attributes.real("alpha", 1) != 1 || node.attributes.real("beta", 1) != 1)
                return "its alpha or beta is not 1";
            if (node.attributes.integer("transB", 0) == 0) unit.weightAxis = 1;
        }
        if (!product && node.input(2).valid()) {
            if (!isFloatConstant(m_graph, node.input(2))) return notConstant(m_graph, node.input(2), "bias");
            const std::int64_t outputs =
                m_graph.constantOf(unit.weight)->dims()[static_cast<std::size_t>(unit.weightAxis)] *
                (transposed ? node.attributes.integer("group", 1) : 1);
            if (!isPerChannel(*m_graph.constantOf(node.input(2)), static_cast<std::size_t>(outputs)))
                return "its bias does not have one value for each output channel";
            unit.bias = node.input(2);
        }
        return {};
    }

    std::string arithmetic(const Node& node, Unit& unit) {
        unit.kind = UnitKind::Arithmetic;
        const bool matrix = m_prepared.operators == OperatorSet::OnnxRuntime && node.op == "MatMul";
        // Further inputs of other operators are parameters, such as the axes of a mean.
        const std::size_t operands = traitsOf(node).everyInput ? node.inputs.size() : 1;
        for (std::size_t i = 0; i < operands; ++i) {
            const TensorId in = node.input(i);
            if (!in.valid()) return "one of its operands is missing";
            if (m_graph.constantOf(in) == nullptr)
                unit.inputs.push_back(in);
            else if (!m_all)
                return "one of its operands is constant";
            else if (!isFloatConstant(m_graph, in))
                return "one of its operands is a constant that is not float32";
            else
                unit.constants.push_back({in, matrix ? ConstantRole::Matrix : ConstantRole::Operand});
        }
        if (unit.inputs.empty()) return "its operands are constant";
        unit.unitRange = node.op == "Softmax" && !aimet();
        return {};
    }

    /// Like ONNX Runtime's DynamicQuantizeLSTM, but with a calibrated range of the input: the input and the
    /// weights are quantized; biases, states and outputs stay in float.
    std::string recurrent(const Node& node, Unit& unit) {
        if (m_prepared.operators == OperatorSet::OnnxRuntime)
            return "ONNX Runtime's quantize_static leaves recurrent layers in float";
        if (m_prepared.operators != OperatorSet::Layers)
            return "recurrent layers are quantized with quantization.operators \"layers\" only";
        unit.kind = UnitKind::Arithmetic;
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its input is constant";
        unit.inputs = {node.input(0)};
        for (const std::size_t i : {1, 2}) {
            if (!isFloatConstant(m_graph, node.input(i)))
                return "its weights are not constant float32 tensors";
            unit.constants.push_back({node.input(i), ConstantRole::Weight});
        }
        // The first output that is read; often this is the last hidden state.
        const auto read = std::ranges::find_if(node.outputs, [&](TensorId out) {
            return out.valid() && (!m_graph.tensor(out).consumers.empty() || m_graph.tensor(out).graphOutput);
        });
        unit.output = read == node.outputs.end() ? TensorId() : *read;
        return {};
    }

    std::string normalization(const Node& node, Unit& unit) {
        unit.kind = UnitKind::Arithmetic;
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its input is constant";
        unit.inputs = {node.input(0)};
        for (std::size_t i = 1; i < std::min<std::size_t>(node.inputs.size(), 3); ++i) {
            if (!node.input(i).valid()) continue;
            if (!isFloatConstant(m_graph, node.input(i)))
                return "its scale or bias is not a constant float32 tensor";
            unit.constants.push_back({node.input(i), i == 1 ? ConstantRole::Weight : ConstantRole::NormBias});
        }
        return {};
    }

    /// A unit without weights, for placement weighted_inputs.
    std::string inputOnly(const Node& node, Unit& unit) {
        unit.kind = UnitKind::Arithmetic;
        if (node.op != "AveragePool")
            return "only layers with weights and AveragePool are quantized (placement weighted_inputs)";
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its input is constant";
        unit.inputs = {node.input(0)};
        return {};
    }

    std::string passing(const Node& node, Unit& unit) {
        unit.kind = UnitKind::PassesScale;
        if (m_graph.constantOf(node.input(0)) != nullptr) return "its input is constant";
        unit.inputs = {node.input(0)};
        if (node.op == "MaxPool") return {};  // its second output contains positions
        for (std::size_t o = 1; o < node.outputs.size(); ++o)
            if (node.outputs[o].valid()) unit.otherOutputs.push_back(node.outputs[o]);
        return {};
    }

    /// Decides, in graph order, which operators that pass their scale on and which separate Relu and Clip
    /// nodes are quantized: those whose input is. For most of them, ONNX Runtime's quantizer only considers
    /// the layers before them; Split and Pad quantize their inputs themselves.
    void decidePassing() {
        std::set<TensorId> anywhere, before;
        const auto follows = [&](const Unit& unit) {
            const bool always =
                m_prepared.operators == OperatorSet::OnnxRuntime && m_graph.node(unit.layer).op == "Pad";
            return followsInput(unit) && !always;
        };
        const auto mark = [](const Unit& unit, std::set<TensorId>& quantized) {
            quantized.insert(unit.inputs.begin(), unit.inputs.end());
            quantized.insert(unit.otherOutputs.begin(), unit.otherOutputs.end());
            if (unit.quantizesOutput) quantized.insert(unit.output);
        };
        for (const Unit& unit : m_list.units)
            if (unit.quantized && !follows(unit)) mark(unit, anywhere);
        for (Unit& unit : m_list.units) {
            if (!unit.quantized) continue;
            const bool inOrder =
                m_prepared.operators == OperatorSet::OnnxRuntime && m_graph.node(unit.layer).op != "Split";
            const std::set<TensorId>& quantized = inOrder ? before : anywhere;
            if (!follows(unit) || quantized.contains(unit.inputs[0]) ||
                quantized.contains(beforeConversion(unit.inputs[0]))) {
                mark(unit, anywhere);
                mark(unit, before);
                continue;
            }
            unit.quantized = false;
            unit.reason = inOrder ? "no layer before it quantizes its input" : "its input is not quantized";
            if (!unit.ifInputIs) unit.reason += ", so there is no scale to pass on";
        }
    }

    TensorId beforeConversion(TensorId tensor) const {
        const NodeId maker = m_graph.tensor(tensor).producer;
        return m_prepared.conversions.contains(maker) ? m_graph.node(maker).input(0) : tensor;
    }

    const Prepared& m_prepared;
    const Graph& m_graph;
    const SkipDecisions& m_skips;
    const bool m_all;  ///< the operators of ONNX Runtime or Quark, with quantized outputs
    const FloatLayers m_floatLayers;
    UnitList m_list;
};

}  // namespace

bool followsInput(const Unit& unit) { return unit.kind == UnitKind::PassesScale || unit.ifInputIs; }

UnitList findUnits(const Prepared& prepared, const SkipDecisions& skips) {
    return UnitFinder(prepared, skips).find();
}

std::vector<std::size_t> scaleOwners(const UnitList& list) {
    std::map<TensorId, std::size_t> ownerOf;  // owner of the scale of each quantized output
    std::vector<std::size_t> owners;
    for (std::size_t u = 0; u < list.units.size(); ++u) {
        const Unit& unit = list.units[u];
        std::size_t owner = u;
        if (unit.quantized && unit.kind == UnitKind::PassesScale)
            if (const auto found = ownerOf.find(unit.inputs[0]); found != ownerOf.end())
                owner = found->second;
        if (!unit.quantized) {
            owners.push_back(owner);
            continue;
        }
        ownerOf[unit.output] = owner;
        for (const TensorId other : unit.otherOutputs) ownerOf[other] = owner;
        owners.push_back(owner);
    }
    return owners;
}

}  // namespace quantloupe
