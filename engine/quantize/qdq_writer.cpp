// SPDX-License-Identifier: Apache-2.0
#include "quantize/qdq_writer.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "model/graph_builder.h"

namespace quantloupe {
namespace {

template <typename T>
ConstantPtr integers(DataType type, const Dims& dims, const std::vector<std::int32_t>& codes) {
    std::vector<std::byte> bytes(codes.size() * sizeof(T));
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const T code = static_cast<T>(codes[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &code, sizeof(T));
    }
    return Constant::fromBytes(type, dims, std::move(bytes));
}

class QdqWriter {
  public:
    explicit QdqWriter(const Plan& plan) : m_plan(plan), m_graph(*plan.prepared->graph), m_builder(m_graph) {
        for (const Node& node : m_graph.nodes()) m_names.insert(node.name);
    }

    GraphPtr write(const std::string& configJson) {
        checkOpset();
        const auto count = m_graph.nodeCount();
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const Unit& unit = m_plan.units.units[u];
            if (!unit.quantized) continue;
            const UnitQuantizers& quantizers = m_plan.quantizers[u];
            if (quantizers.weight)
                addConstant(unit, unit.weight, *quantizers.weight, DataType::Int8);
            if (quantizers.bias) addConstant(unit, unit.bias, *quantizers.bias, DataType::Int32);
        }
        // In the order of the tensors, so that the file is the same every time.
        std::vector<TensorId> tensors;
        for (const auto& [tensor, quantizer] : m_plan.tensors) tensors.push_back(tensor);
        std::sort(tensors.begin(), tensors.end());
        for (const TensorId tensor : tensors) addPair(tensor, m_plan.tensors.at(tensor), count);
        m_builder.facts().metadata["quantloupe.config"] = configJson;
        return m_builder.build();
    }

  private:
    void checkOpset() const {
        bool perChannel = false;
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u)
            perChannel = perChannel || (m_plan.units.units[u].quantized && m_plan.quantizers[u].weight &&
                                        m_plan.quantizers[u].weight->axis >= 0);
        const std::int64_t needed = perChannel ? 13 : 10;
        if (m_graph.opset() < needed)
            fail(ErrorKind::Unsupported,
                 "the model is of opset {}, but QuantizeLinear{} came with opset {}; export the model again with opset 13 "
                 "or later",
                 m_graph.opset(), perChannel ? " per channel" : "", needed);
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
        const std::vector<std::int32_t> zeros(quantizer.scales.size(), 0);
        const bool wide = type == DataType::Int32;
        Node node;
        node.name = uniqueNode(name + "_DequantizeLinear");
        node.op = "DequantizeLinear";
        node.inputs = {newConstant(name + "_quantized", wide ? integers<std::int32_t>(type, dims, quantizer.codes)
                                                             : integers<std::int8_t>(type, dims, quantizer.codes)),
                       newConstant(name + "_scale", Constant::fromFloats(scaleDims, quantizer.scales)),
                       newConstant(name + "_zero_point", wide ? integers<std::int32_t>(type, scaleDims, zeros)
                                                              : integers<std::int8_t>(type, scaleDims, zeros))};
        node.outputs = {m_builder.tensor(m_builder.unusedTensorName(name + "_dequantized"))};
        if (perChannel) node.attributes.set("axis", std::int64_t{quantizer.axis});
        const TensorId dequantized = node.outputs[0];
        m_builder.addNode(std::move(node));
        Node& layer = m_builder.node(unit.layer);
        std::replace(layer.inputs.begin(), layer.inputs.end(), tensor, dequantized);
    }

    void addPair(TensorId tensor, const TensorQuantizer& quantizer, std::size_t originalNodes) {
        const TensorInfo info = m_graph.tensor(tensor);
        const bool isSigned = quantizer.quantMin < 0;
        const DataType type = isSigned ? DataType::Int8 : DataType::UInt8;
        const std::vector<std::int32_t> zero{quantizer.zeroPoint};
        const TensorId scale = newConstant(info.name + "_scale", Constant::fromFloats({}, {quantizer.scale}));
        const TensorId zeroPoint = newConstant(
            info.name + "_zero_point", isSigned ? integers<std::int8_t>(type, {}, zero) : integers<std::uint8_t>(type, {}, zero));
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

    const Plan& m_plan;
    const Graph& m_graph;
    GraphBuilder m_builder;
    std::set<std::string> m_names;
};

}  // namespace

GraphPtr writeQdq(const Plan& plan, const std::string& configJson) { return QdqWriter(plan).write(configJson); }

}  // namespace quantloupe
