// SPDX-License-Identifier: Apache-2.0
#include "quantize/qdq_writer.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "model/graph_builder.h"
#include "model/raise_opset.h"
#include "quantize/channel_walk.h"

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
        case DataType::Int8: return packed<std::int8_t>(type, dims, codes);
        case DataType::UInt8: return packed<std::uint8_t>(type, dims, codes);
        case DataType::Int16: return packed<std::int16_t>(type, dims, codes);
        case DataType::UInt16: return packed<std::uint16_t>(type, dims, codes);
        default: return packed<std::int32_t>(DataType::Int32, dims, codes);
    }
}

/// The smallest type that holds the codes.
DataType typeFor(int quantMin, int quantMax) {
    if (quantMin >= 0) return quantMax <= 255 ? DataType::UInt8 : quantMax <= 65535 ? DataType::UInt16 : DataType::Int32;
    if (quantMin >= -128 && quantMax <= 127) return DataType::Int8;
    return quantMin >= -32768 && quantMax <= 32767 ? DataType::Int16 : DataType::Int32;
}

bool is16(DataType type) { return type == DataType::Int16 || type == DataType::UInt16; }

/// Integers of 16 bits have a domain of their own before ONNX has them.
constexpr std::int64_t kOpset16Bits = 21, kOpsetPerChannel = 13, kOpsetPlain = 10;

class QdqWriter {
  public:
    explicit QdqWriter(const Plan& plan) : m_plan(plan), m_graph(*plan.prepared->graph), m_builder(m_graph) {
        for (const Node& node : m_graph.nodes()) m_names.insert(node.name);
    }

    GraphPtr write(const std::string& configJson) {
        raiseOpset();
        const auto count = m_graph.nodeCount();
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const Unit& unit = m_plan.units.units[u];
            if (!unit.quantized) continue;
            const UnitQuantizers& quantizers = m_plan.quantizers[u];
            if (quantizers.weight) addConstant(unit, unit.weight, *quantizers.weight, typeOf(*quantizers.weight));
            // A bias of 16 bits goes into int32, too, which every opset dequantizes.
            if (quantizers.correctedBias) m_builder.setConstant(unit.bias, quantizers.correctedBias);
            if (quantizers.bias)
                addConstant(unit, unit.bias, *quantizers.bias, quantizers.bias->bits == 8 ? DataType::Int8 : DataType::Int32);
        }
        // In the order of the tensors, so that the file is the same every time.
        std::vector<TensorId> tensors;
        for (const auto& [tensor, quantizer] : m_plan.tensors) tensors.push_back(tensor);
        std::sort(tensors.begin(), tensors.end());
        for (const TensorId tensor : tensors) addPair(tensor, m_plan.tensors.at(tensor), count);
        // Q/DQ pairs stand where they stood.
        for (const NodeId identity : m_plan.prepared->ownInputs) {
            const Node& node = m_graph.node(identity);
            m_builder.replaceUses(node.output(), node.input(0));
            m_builder.removeNode(identity);
        }
        m_builder.facts().metadata["quantloupe.config"] = configJson;
        return m_builder.build();
    }

  private:
    static DataType typeOf(const ConstantQuantizer& quantizer) { return typeFor(quantizer.quantMin, quantizer.quantMax); }

    void raiseOpset() {
        std::int64_t needed = kOpsetPlain;
        const char* why = "";
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const auto& weight = m_plan.quantizers[u].weight;
            if (!m_plan.units.units[u].quantized || !weight) continue;
            if (is16(typeOf(*weight))) needed = kOpset16Bits;
            else if (weight->axis >= 0) needed = std::max(needed, kOpsetPerChannel);
        }
        for (const auto& [tensor, quantizer] : m_plan.tensors)
            if (is16(typeFor(quantizer.quantMin, quantizer.quantMax))) needed = kOpset16Bits;
        if (needed == kOpset16Bits) why = " of 16 bits";
        else if (needed == kOpsetPerChannel) why = " per channel";
        if (m_graph.opset() >= needed) return;
        try {
            quantloupe::raiseOpset(m_builder, m_graph, needed);
        } catch (Error& error) {
            error.addContext(fmt::format("the model is of opset {}, but QuantizeLinear{} came with opset {}", m_graph.opset(), why, needed));
            throw;
        }
    }

    std::string uniqueNode(std::string name) {
        const std::string stem = name;
        for (int i = 1; !m_names.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
        return name;
    }

    TensorId newConstant(const std::string& name, ConstantPtr value) {
        return m_builder.addConstant(m_builder.unusedTensorName(name), std::move(value));
    }

    void addConstant(const Unit& unit, TensorId tensor, const ConstantQuantizer& quantizer, DataType type) {
        const std::string name = m_graph.tensor(tensor).name;
        const Dims& dims = m_graph.constantOf(tensor)->dims();
        const bool perChannel = quantizer.axis >= 0;
        const Dims scaleDims = perChannel ? Dims{static_cast<std::int64_t>(quantizer.scales.size())} : Dims{};
        std::vector<std::int32_t> stored(quantizer.codes.size());
        const ChannelWalk walk(dims, quantizer.axis);
        walk.forEach([&](std::size_t i, std::size_t c) { stored[i] = quantizer.codes[i] + quantizer.zeroPoints[perChannel ? c : 0]; });
        Node node;
        node.name = uniqueNode(name + "_DequantizeLinear");
        node.op = "DequantizeLinear";
        node.inputs = {newConstant(name + "_quantized", integers(type, dims, stored)),
                       newConstant(name + "_scale", Constant::fromFloats(scaleDims, quantizer.scales)),
                       newConstant(name + "_zero_point", integers(type, scaleDims, quantizer.zeroPoints))};
        node.outputs = {m_builder.tensor(m_builder.unusedTensorName(name + "_dequantized"))};
        if (perChannel) node.attributes.set("axis", std::int64_t{quantizer.axis});
        const TensorId dequantized = node.outputs[0];
        m_builder.addNode(std::move(node));
        Node& layer = m_builder.node(unit.layer);
        std::replace(layer.inputs.begin(), layer.inputs.end(), tensor, dequantized);
    }

    void addPair(TensorId tensor, const TensorQuantizer& quantizer, std::size_t originalNodes) {
        const TensorInfo info = m_graph.tensor(tensor);
        const DataType type = typeFor(quantizer.quantMin, quantizer.quantMax);
        const TensorId scale = newConstant(info.name + "_scale", Constant::fromFloats({}, {quantizer.scale}));
        const TensorId zeroPoint = newConstant(info.name + "_zero_point", integers(type, {}, {quantizer.zeroPoint}));
        const auto fresh = [&](const char* suffix) { return m_builder.tensor(m_builder.unusedTensorName(info.name + suffix)); };

        TensorId before = tensor;
        const TensorId codes = fresh("_quantized");
        TensorId after;
        if (info.graphOutput && info.producer.valid()) {
            // The pair's end takes the output's name; its maker gets another.
            before = fresh("_before_quantization");
            auto& outputs = m_builder.node(info.producer).outputs;
            std::replace(outputs.begin(), outputs.end(), tensor, before);
            after = tensor;
        } else {
            after = fresh("_dequantized");
            for (const NodeId reader : info.consumers) {
                if (reader.index() >= originalNodes) continue;
                auto& inputs = m_builder.node(reader).inputs;
                std::replace(inputs.begin(), inputs.end(), tensor, after);
            }
        }
        before = addClip(info.name, before, quantizer, type);
        Node quantize;
        quantize.name = uniqueNode(info.name + "_QuantizeLinear");
        quantize.op = "QuantizeLinear";
        quantize.inputs = {before, scale, zeroPoint};
        quantize.outputs = {codes};
        m_builder.addNode(std::move(quantize));
        Node dequantize;
        dequantize.name = uniqueNode(info.name + "_DequantizeLinear");
        dequantize.op = "DequantizeLinear";
        dequantize.inputs = {codes, scale, zeroPoint};
        dequantize.outputs = {after};
        m_builder.addNode(std::move(dequantize));
    }

    /// The type saturates at its own ends; where the codes end earlier, a Clip in front does it. Returns what to quantize.
    TensorId addClip(const std::string& name, TensorId before, const TensorQuantizer& quantizer, DataType type) {
        const int codes = quantizer.quantMax - quantizer.quantMin + 1;
        if (codes == (is16(type) ? 65536 : 256)) return before;
        const FakeQuant range = quantizer.fakeQuant();
        Node clip;
        clip.name = uniqueNode(name + "_Clip");
        clip.op = "Clip";
        if (m_builder.facts().opsets[""] >= 11) {
            clip.inputs = {before, newConstant(name + "_clip_min", Constant::fromFloats({}, {range.low * range.scale})),
                           newConstant(name + "_clip_max", Constant::fromFloats({}, {range.high * range.scale}))};
        } else {
            clip.inputs = {before};
            clip.attributes.set("min", range.low * range.scale);
            clip.attributes.set("max", range.high * range.scale);
        }
        clip.outputs = {m_builder.tensor(m_builder.unusedTensorName(name + "_clipped"))};
        const TensorId clipped = clip.outputs[0];
        m_builder.addNode(std::move(clip));
        return clipped;
    }

    const Plan& m_plan;
    const Graph& m_graph;
    GraphBuilder m_builder;
    std::set<std::string> m_names;
};

}  // namespace

GraphPtr writeQdq(const Plan& plan, const std::string& configJson) { return QdqWriter(plan).write(configJson); }

}  // namespace quantloupe
