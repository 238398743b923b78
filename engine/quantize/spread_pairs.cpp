// SPDX-License-Identifier: Apache-2.0
#include "quantize/spread_pairs.h"

#include <algorithm>
#include <set>

#include "model/graph_builder.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

class PairSpreader {
  public:
    explicit PairSpreader(const Graph& graph) : m_builder(graph) {
        for (const TensorId output : graph.outputs()) m_outputs.insert(output);
        for (std::size_t n = 0; n < m_builder.nodeCount(); ++n) enter(NodeId(n));
    }

    /// Returns whether anything changed.
    bool run() {
        const std::size_t before = m_builder.nodeCount();
        for (std::size_t n = 0; n < before; ++n)
            if (isInt8(NodeId(n), "QuantizeLinear")) backward(NodeId(n));
        // Also those that were added by backward() or in this loop.
        for (std::size_t n = 0; n < m_builder.nodeCount(); ++n)
            if (isInt8(NodeId(n), "DequantizeLinear")) forward(NodeId(n));
        return m_biasesChanged || m_builder.nodeCount() > before;
    }

    GraphPtr build() { return m_builder.build(); }

  private:
    /// Whether the node is a per-tensor `op` with a constant zero point of type int8.
    bool isInt8(NodeId id, std::string_view op) {
        const Node& node = m_builder.node(id);
        if (node.op != op || node.inputs.size() < 3 || !node.inputs[2].valid()) return false;
        const ConstantPtr& zeroPoint = m_builder.tensorInfo(node.inputs[2]).constant;
        return zeroPoint && zeroPoint->type() == DataType::Int8 && zeroPoint->size() == 1;
    }

    bool isQuantize(NodeId id) { return m_builder.node(id).op == "QuantizeLinear"; }

    /// Whether the only output has only values of input 0. The outputs of a Split are excluded, because each
    /// can have another scale.
    bool copies(NodeId id) {
        const Node& node = m_builder.node(id);
        if (isOp(node, "Dropout")) return isRemovedDropout(node);
        if (isOp(node, "Cast")) return isRemovedCast(node);
        const OperatorTraits& traits = traitsOf(node);
        return traits.copiesValues && !traits.everyInput && node.outputs.size() == 1;
    }

    /// Whether ONNX Runtime's optimizer removes the Cast: its input is float32 already.
    bool isRemovedCast(const Node& node) {
        if (node.attributes.integer("to", 0) != static_cast<std::int64_t>(DataType::Float32)) return false;
        const NodeId source = m_producers[node.input(0).index()];
        return m_builder.tensorInfo(node.input(0)).type == DataType::Float32 ||
               (source.valid() && m_builder.node(source).op == "DequantizeLinear");
    }

    /// Whether ONNX Runtime's optimizer removes the Dropout: it does not train, and nothing reads its mask.
    bool isRemovedDropout(const Node& node) {
        if (const TensorId mask = node.output(1);
            mask.valid() && (!m_readers[mask.index()].empty() || m_outputs.contains(mask)))
            return false;
        if (!node.input(2).valid()) return true;
        const ConstantPtr& training = m_builder.tensorInfo(node.input(2)).constant;
        return training && training->size() == 1 && training->scalar() == 0;
    }

    /// Adds pairs before the operators whose results this QuantizeLinear reads, if it is the only reader.
    void backward(NodeId quantize) {
        TensorId tensor = m_builder.node(quantize).input(0);
        while (m_readers[tensor.index()].size() == 1 && !m_outputs.contains(tensor)) {
            const NodeId copier = m_producers[tensor.index()];
            if (!copier.valid() || !copies(copier)) return;
            tensor = m_builder.node(copier).input(0);
            const NodeId source = m_producers[tensor.index()];
            if (!source.valid()) {  // a graph input or a constant
                if (!m_builder.tensorInfo(tensor).constant) addPair(tensor, {copier}, quantize);
                return;
            }
            if (m_builder.node(source).op == "DequantizeLinear") return;
            if (m_readers[tensor.index()].size() != 1 || m_outputs.contains(tensor)) return;
            addPair(tensor, {copier}, quantize);
        }
    }

    /// Adds pairs after the operators that read this DequantizeLinear, unless a QuantizeLinear follows them.
    void forward(NodeId dequantize) {
        const std::vector<NodeId> readers = m_readers[m_builder.node(dequantize).output().index()];
        for (const NodeId reader : readers) {
            if (m_builder.node(reader).op == "MatMul") keepApart(reader);
            if (!copies(reader) || m_builder.node(reader).input(0) != m_builder.node(dequantize).output())
                continue;
            const TensorId tensor = m_builder.node(reader).output();
            const std::vector<NodeId>& next = m_readers[tensor.index()];
            if (std::ranges::none_of(next, [&](NodeId id) { return isQuantize(id); }))
                addPair(tensor, std::vector(next), dequantize);
        }
    }

    /// Gives the bias after a MatMul in float the shape [1, N], with which ONNX Runtime does not merge the
    /// two into a Gemm between two operators Reshape.
    void keepApart(NodeId product) {
        const TensorId tensor = m_builder.node(product).output();
        const std::vector<NodeId>& readers = m_readers[tensor.index()];
        if (!m_builder.tensorInfo(m_builder.node(product).input(1)).constant) return;
        if (readers.size() != 1 || m_outputs.contains(tensor) || m_builder.node(readers[0]).op != "Add")
            return;
        for (TensorId& operand : m_builder.node(readers[0]).inputs) {
            const ConstantPtr bias = m_builder.tensorInfo(operand).constant;
            if (!bias || bias->dims().size() != 1) continue;
            operand =
                m_builder.addConstant(m_builder.unusedTensorName(m_builder.tensorInfo(operand).name + "_row"),
                                      Constant::view(bias->type(), {1, bias->size()}, bias, bias->bytes()));
            m_biasesChanged = true;
        }
    }

    /// Adds a pair with the scale and zero point of `like` between a tensor and these readers of it. Graph
    /// inputs and outputs keep their names.
    void addPair(TensorId tensor, const std::vector<NodeId>& readers, NodeId like) {
        const std::string name = m_builder.tensorInfo(tensor).name;
        TensorId before = tensor, after = tensor;
        if (const NodeId producer = m_producers[tensor.index()]; m_outputs.contains(tensor)) {
            before = newTensor(name + "_before_quantization");
            std::ranges::replace(m_builder.node(producer).outputs, tensor, before);
            m_producers[before.index()] = producer;
        } else {
            after = newTensor(name + "_dequantized");
            for (const NodeId reader : readers) {
                std::ranges::replace(m_builder.node(reader).inputs, tensor, after);
                m_readers[after.index()].push_back(reader);
                std::erase(m_readers[tensor.index()], reader);
            }
        }
        const TensorId scale = m_builder.node(like).input(1), zeroPoint = m_builder.node(like).input(2);
        const TensorId codes = newTensor(name + "_quantized");
        add(name + "_QuantizeLinear", "QuantizeLinear", {before, scale, zeroPoint}, codes);
        add(name + "_DequantizeLinear", "DequantizeLinear", {codes, scale, zeroPoint}, after);
    }

    void add(const std::string& name, const char* op, std::vector<TensorId> inputs, TensorId output) {
        Node node;
        node.name = m_builder.unusedNodeName(name);
        node.op = op;
        node.inputs = std::move(inputs);
        node.outputs = {output};
        enter(m_builder.addNode(std::move(node)));
    }

    TensorId newTensor(const std::string& stem) {
        const TensorId id = m_builder.tensor(m_builder.unusedTensorName(stem));
        m_producers.resize(std::max(m_producers.size(), id.index() + 1));
        m_readers.resize(m_producers.size());
        return id;
    }

    /// Registers the node as producer and reader.
    void enter(NodeId id) {
        const Node& node = m_builder.node(id);
        const auto grow = [this](TensorId tensor) {
            m_producers.resize(std::max(m_producers.size(), tensor.index() + 1));
            m_readers.resize(m_producers.size());
        };
        for (const TensorId output : node.outputs)
            if (output.valid()) grow(output), m_producers[output.index()] = id;
        for (const TensorId input : node.inputs) {
            if (!input.valid()) continue;
            grow(input);
            auto& readers = m_readers[input.index()];
            if (readers.empty() || readers.back() != id) readers.push_back(id);
        }
    }

    GraphBuilder m_builder;
    std::set<TensorId> m_outputs;
    bool m_biasesChanged = false;
    std::vector<NodeId> m_producers;             ///< by tensor
    std::vector<std::vector<NodeId>> m_readers;  ///< by tensor
};

}  // namespace

GraphPtr spreadPairs(const GraphPtr& graph) {
    if (graph->opset() < 21) return graph;
    PairSpreader spreader(*graph);
    return spreader.run() ? spreader.build() : graph;
}

}  // namespace quantloupe
