// SPDX-License-Identifier: Apache-2.0
#include "quantize/qdq_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/error.h"
#include "base/half.h"
#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "quantize/channel_walk.h"
#include "quantize/spread_pairs.h"
#include "quantize/storage_types.h"

namespace quantloupe {
namespace {

template <typename T>
ConstantPtr packed(DataType type, const Dims& dims, const std::vector<std::int32_t>& codes) {
    std::vector<std::byte> bytes(codes.size() * sizeof(T));
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const T code = static_cast<T>(codes[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &code, sizeof(T));
    }
    return Constant::fromBytes(type, dims, std::move(bytes));
}

ConstantPtr integers(DataType type, const Dims& dims, const std::vector<std::int32_t>& codes) {
    switch (type) {
        case DataType::Int4:
        case DataType::Int8:
            return packed<std::int8_t>(type, dims, codes);
        case DataType::UInt4:
        case DataType::UInt8:
            return packed<std::uint8_t>(type, dims, codes);
        case DataType::Int16:
            return packed<std::int16_t>(type, dims, codes);
        case DataType::UInt16:
            return packed<std::uint16_t>(type, dims, codes);
        default:
            return packed<std::int32_t>(DataType::Int32, dims, codes);
    }
}

bool is16(DataType type) { return type == DataType::Int16 || type == DataType::UInt16; }
bool is4(DataType type) { return type == DataType::Int4 || type == DataType::UInt4; }
int codesOf(DataType type) { return is16(type) ? 65536 : is4(type) ? 16 : 256; }

class QdqWriter {
  public:
    QdqWriter(const Plan& plan, const ExportOptions& options)
        : m_plan(plan),
          m_types(storageTypesOf(plan, options.fourBitTypes)),
          m_floatWeights(options.floatWeights),
          m_graph(*plan.prepared->graph),
          m_builder(m_graph) {}

    GraphPtr write(const std::string& configJson) {
        raiseOpsetForCodes(m_builder, m_graph, m_types.opset, m_types.reason);
        findReaders();
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const Unit& unit = m_plan.units.units[u];
            const UnitQuantizers& quantizers = m_plan.quantizers[u];
            for (const auto& [tensor, half] : quantizers.halves) addHalf(unit, tensor, *half);
            if (!unit.quantized) continue;
            if (quantizers.weight)
                addConstant(unit, unit.weight, *quantizers.weight, typeOf(*quantizers.weight));
            if (quantizers.correctedBias) m_builder.setConstant(unit.bias, quantizers.correctedBias);
            // ONNX Runtime's integer kernels expect every int32 bias in the scale of their sums, and int16
            // needs opset 21.
            if (quantizers.bias && quantizers.bias->bits == 16)
                m_builder.setConstant(unit.bias, quantizers.bias->dequantized);
            else if (quantizers.bias)
                addConstant(unit, unit.bias, *quantizers.bias, biasType(*quantizers.bias));
            for (std::size_t i = 0; i < unit.constants.size(); ++i)
                if (const auto& own = quantizers.constants[i])
                    addConstant(
                        unit, unit.constants[i].tensor, *own,
                        unit.constants[i].role == ConstantRole::NormBias ? biasType(*own) : typeOf(*own));
        }
        dropDilations();
        // Sorted, so that the file is the same every time.
        std::vector<TensorId> tensors;
        for (const auto& [tensor, quantizer] : m_plan.tensors) tensors.push_back(tensor);
        std::sort(tensors.begin(), tensors.end());
        for (const TensorId tensor : tensors) addPair(tensor, m_plan.tensors.at(tensor));
        // The Identity nodes of the placement are not exported; their Q/DQ pairs remain.
        for (const NodeId identity : m_plan.prepared->ownInputs) {
            const Node node = m_builder.node(identity);
            m_builder.replaceUses(node.output(), node.input(0));
            m_builder.removeNode(identity);
        }
        m_builder.facts().metadata["quantloupe.config"] = configJson;
        return spreadPairs(m_builder.build());
    }

  private:
    /// The producers and readers of all tensors after the opset was raised, which can add nodes.
    void findReaders() {
        for (std::size_t n = 0; n < m_builder.nodeCount(); ++n) {
            const Node& node = m_builder.node(NodeId(n));
            for (const TensorId output : node.outputs) m_producers[output] = NodeId(n);
            for (const TensorId input : std::set<TensorId>(node.inputs.begin(), node.inputs.end()))
                m_readers[input].push_back(NodeId(n));
        }
    }

    DataType typeOf(const ConstantQuantizer& quantizer) const {
        return m_types.typeFor(quantizer.quantMin, quantizer.quantMax);
    }
    static DataType biasType(const ConstantQuantizer& quantizer) {
        return quantizer.bits == 8 ? DataType::Int8 : DataType::Int32;
    }

    /// Removes dilations of 1 from AveragePool: ONNX Runtime's quantized operator does not know the
    /// attribute.
    void dropDilations() {
        for (std::size_t n = 0; n < m_graph.nodeCount(); ++n) {
            const Node& node = m_graph.node(NodeId(n));
            if (isOp(node, "AveragePool") && allOnes(node.attributes.integers("dilations")))
                m_builder.node(NodeId(n)).attributes.erase("dilations");
        }
    }

    TensorId newConstant(const std::string& name, ConstantPtr value) {
        return m_builder.addConstant(m_builder.unusedTensorName(name), std::move(value));
    }

    void addConstant(const Unit& unit, TensorId tensor, const ConstantQuantizer& quantizer, DataType type) {
        // transform/own_constants.h sees to it; codes of another layer would be wrong here.
        if (!m_done.insert(tensor).second)
            fail(ErrorKind::Internal, "two layers share the constant '{}'", m_graph.tensor(tensor).name);
        const std::string name = m_graph.tensor(tensor).name;
        const Dims& dims = m_graph.constantOf(tensor)->dims();
        const bool perChannel = quantizer.axis >= 0;
        const Dims scaleDims = perChannel ? Dims{static_cast<std::int64_t>(quantizer.scales.size())} : Dims{};
        std::vector<std::int32_t> stored(quantizer.codes.size());
        const ChannelWalk walk(dims, quantizer.axis);
        walk.forEach([&](std::size_t i, std::size_t c) {
            stored[i] = quantizer.codes[i] + quantizer.zeroPoints[perChannel ? c : 0];
        });
        const auto [known, isNew] = m_written.try_emplace(&quantizer);
        auto& [codes, scale, zeroPoint] = known->second;
        if (isNew) {
            scale = newConstant(name + "_scale", Constant::fromFloats(scaleDims, quantizer.scales));
            zeroPoint = newConstant(name + "_zero_point", integers(type, scaleDims, quantizer.zeroPoints));
        }
        if (!isNew) {
            // Reuses the codes written for another layer's copy of the same weight.
        } else if (m_floatWeights && type != DataType::Int32) {
            Node quantize;
            quantize.name = m_builder.unusedNodeName(name + "_QuantizeLinear");
            quantize.op = "QuantizeLinear";
            quantize.inputs = {newConstant(name + "_float", floatsFor(tensor, quantizer, walk, type)), scale,
                               zeroPoint};
            quantize.outputs = {m_builder.tensor(m_builder.unusedTensorName(name + "_quantized"))};
            if (perChannel) quantize.attributes.set("axis", std::int64_t{quantizer.axis});
            codes = quantize.outputs[0];
            m_builder.addNode(std::move(quantize));
        } else {
            codes = newConstant(name + "_quantized", integers(type, dims, stored));
        }
        Node node;
        node.name = m_builder.unusedNodeName(name + "_DequantizeLinear");
        node.op = "DequantizeLinear";
        node.inputs = {codes, scale, zeroPoint};
        node.outputs = {m_builder.tensor(m_builder.unusedTensorName(name + "_dequantized"))};
        if (perChannel) node.attributes.set("axis", std::int64_t{quantizer.axis});
        const TensorId dequantized = node.outputs[0];
        m_builder.addNode(std::move(node));
        for (const NodeId reader : m_readers[tensor]) {
            if (tensor == unit.weight && reader != unit.layer) continue;
            auto& inputs = m_builder.node(reader).inputs;
            std::replace(inputs.begin(), inputs.end(), tensor, dequantized);
        }
    }

    TensorId cast(const std::string& name, TensorId input, DataType type, TensorId output) {
        Node node;
        node.name = m_builder.unusedNodeName(name);
        node.op = "Cast";
        node.inputs = {input};
        node.outputs = {output};
        node.attributes.set("to", static_cast<std::int64_t>(type));
        m_builder.addNode(std::move(node));
        return output;
    }

    void addHalf(const Unit& unit, TensorId tensor, const Constant& rounded) {
        const std::string name = m_graph.tensor(tensor).name;
        std::vector<std::byte> bytes(rounded.floats().size() * sizeof(std::uint16_t));
        for (std::size_t i = 0; i < rounded.floats().size(); ++i) {
            const std::uint16_t half = floatToHalf(rounded.floats()[i]);
            std::memcpy(bytes.data() + i * sizeof half, &half, sizeof half);
        }
        const TensorId stored = newConstant(
            name + "_float16", Constant::fromBytes(DataType::Float16, rounded.dims(), std::move(bytes)));
        const TensorId value = cast(name + "_Cast", stored, DataType::Float32,
                                    m_builder.tensor(m_builder.unusedTensorName(name + "_float32")));
        for (const NodeId reader : {unit.layer, unit.activation}) {
            if (!reader.valid()) continue;
            auto& inputs = m_builder.node(reader).inputs;
            std::replace(inputs.begin(), inputs.end(), tensor, value);
        }
    }

    /// Returns the model's own values if QuantizeLinear computes our codes from them; otherwise, for example
    /// with learned rounding or if the codes do not use the whole type, the dequantized values.
    ConstantPtr floatsFor(TensorId tensor, const ConstantQuantizer& quantizer, const ChannelWalk& walk,
                          DataType type) const {
        const ConstantPtr& own = m_graph.tensor(tensor).constant;
        const std::span<const float> values = own->floats();
        const bool isSigned = type == DataType::Int4 || type == DataType::Int8 || type == DataType::Int16;
        const int low = isSigned ? -codesOf(type) / 2 : 0, high = low + codesOf(type) - 1;
        bool same = true;
        walk.forEach([&](std::size_t i, std::size_t c) {
            const float code = std::clamp(std::nearbyint(values[i] / quantizer.scales[c]),
                                          static_cast<float>(low - quantizer.zeroPoints[c]),
                                          static_cast<float>(high - quantizer.zeroPoints[c]));
            same = same && static_cast<std::int32_t>(code) == quantizer.codes[i];
        });
        return same ? own : quantizer.dequantized;
    }

    /// Adds Q/DQ, or the Casts of float16, between the producer of a tensor and its readers.
    void addPair(TensorId tensor, const TensorQuantizer& quantizer) {
        const TensorInfo info = m_graph.tensor(tensor);
        TensorId before = tensor, after;
        if (info.graphOutput && info.producer.valid()) {
            // The output of the pair takes the name of the graph output, and the producer's output a new one.
            before = fresh(info, "_before_quantization");
            auto& outputs = m_builder.node(m_producers.at(tensor)).outputs;
            std::replace(outputs.begin(), outputs.end(), tensor, before);
            after = tensor;
        } else {
            after = fresh(info, quantizer.half ? "_rounded" : "_dequantized");
            for (const NodeId reader : m_readers[tensor]) {
                auto& inputs = m_builder.node(reader).inputs;
                std::replace(inputs.begin(), inputs.end(), tensor, after);
            }
        }
        if (quantizer.half) {
            const TensorId half =
                cast(info.name + "_to_half", before, DataType::Float16, fresh(info, "_half"));
            cast(info.name + "_from_half", half, DataType::Float32, after);
        } else {
            addQuantization(info, quantizer, before, after);
        }
    }

    TensorId fresh(const TensorInfo& info, const char* suffix) {
        return m_builder.tensor(m_builder.unusedTensorName(info.name + suffix));
    }

    void addQuantization(const TensorInfo& info, const TensorQuantizer& quantizer, TensorId before,
                         TensorId after) {
        const DataType type = StorageTypes::activationType(quantizer.quantMin, quantizer.quantMax);
        const TensorId scale = newConstant(info.name + "_scale", Constant::fromFloats({}, {quantizer.scale}));
        const TensorId zeroPoint =
            newConstant(info.name + "_zero_point", integers(type, {}, {quantizer.zeroPoint}));
        Node quantize;
        quantize.name = m_builder.unusedNodeName(info.name + "_QuantizeLinear");
        quantize.op = "QuantizeLinear";
        quantize.inputs = {addClip(info, before, quantizer, type), scale, zeroPoint};
        quantize.outputs = {fresh(info, "_quantized")};
        Node dequantize;
        dequantize.name = m_builder.unusedNodeName(info.name + "_DequantizeLinear");
        dequantize.op = "DequantizeLinear";
        dequantize.inputs = {quantize.outputs[0], scale, zeroPoint};
        dequantize.outputs = {after};
        m_builder.addNode(std::move(quantize));
        m_builder.addNode(std::move(dequantize));
    }

    /// Adds a Clip before QuantizeLinear if the range of the codes is smaller than that of their type,
    /// because QuantizeLinear saturates only at the ends of the type. Returns the tensor to quantize.
    TensorId addClip(const TensorInfo& info, TensorId before, const TensorQuantizer& quantizer,
                     DataType type) {
        const int codes = quantizer.quantMax - quantizer.quantMin + 1;
        if (codes == codesOf(type) || onlyCopied(info, quantizer)) return before;
        const FakeQuant range = quantizer.fakeQuant();
        Node clip;
        clip.name = m_builder.unusedNodeName(info.name + "_Clip");
        clip.op = "Clip";
        if (m_builder.facts().opsets[""] >= 11) {
            clip.inputs = {
                before,
                newConstant(info.name + "_clip_min", Constant::fromFloats({}, {range.low * range.scale})),
                newConstant(info.name + "_clip_max", Constant::fromFloats({}, {range.high * range.scale}))};
        } else {
            clip.inputs = {before};
            clip.attributes.set("min", range.low * range.scale);
            clip.attributes.set("max", range.high * range.scale);
        }
        clip.outputs = {m_builder.tensor(m_builder.unusedTensorName(info.name + "_clipped"))};
        const TensorId clipped = clip.outputs[0];
        m_builder.addNode(std::move(clip));
        return clipped;
    }

    /// Whether the values of a tensor were quantized by the same quantizer before. A Clip is not needed then,
    /// and ONNX Runtime 1.32 refuses a model in which one follows a MaxPool of int8 values in opset 21.
    bool onlyCopied(const TensorInfo& info, const TensorQuantizer& quantizer) const {
        if (!info.producer.valid()) return false;
        const Node& node = m_graph.node(info.producer);
        const OperatorTraits& traits = traitsOf(node);
        if (!traits.copiesValues) return false;
        const std::size_t inputs = traits.everyInput ? node.inputs.size() : 1;
        return std::all_of(node.inputs.begin(), node.inputs.begin() + inputs, [&](TensorId input) {
            const auto found = m_plan.tensors.find(input);
            return found != m_plan.tensors.end() && found->second == quantizer;
        });
    }

    const Plan& m_plan;
    StorageTypes m_types;
    bool m_floatWeights;
    struct WrittenConstant {
        TensorId codes, scale, zeroPoint;
    };
    std::set<TensorId> m_done;  ///< constants that already have a DequantizeLinear
    /// By quantizer, because layers that share a weight also share its quantizer.
    std::map<const ConstantQuantizer*, WrittenConstant> m_written;
    std::map<TensorId, std::vector<NodeId>> m_readers;
    std::map<TensorId, NodeId> m_producers;
    const Graph& m_graph;
    GraphBuilder m_builder;
};

}  // namespace

GraphPtr writeQdq(const Plan& plan, const std::string& configJson, const ExportOptions& options) {
    return QdqWriter(plan, options).write(configJson);
}

}  // namespace quantloupe
