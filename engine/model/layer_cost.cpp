// SPDX-License-Identifier: Apache-2.0
#include "model/layer_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/moved_constants.h"
#include "model/operator_traits.h"
#include "model/quantized_model.h"

namespace quantloupe {
namespace {

constexpr int kMaxSteps = 6;

class CostFinder {
  public:
    CostFinder(const Graph& graph, const Node& node, const MeasuredShapes& measured)
        : m_graph(graph), m_node(node), m_measured(measured) {}

    LayerCost find() {
        const IntegerLayer* const coded = integerLayer(m_node);
        countParameters(coded);
        if (!m_node.domain.empty() && coded == nullptr) return m_cost;
        std::uint64_t macs = 0;
        if (coded != nullptr && coded->convolution)
            macs = elements(m_node.output()) * perChannel(m_node.input(coded->weight));
        else if (m_node.op == "Conv")
            macs = elements(m_node.output()) * perChannel(m_node.input(1));
        else if (m_node.op == "ConvTranspose")
            macs = elements(m_node.input(0)) * perChannel(m_node.input(1));
        else if (m_node.op == "Gemm" || m_node.op == "QGemm")
            macs = elements(m_node.output()) *
                   extent(m_node.input(0), m_node.attributes.integer("transA", 0) != 0 ? 2 : 1);
        else if (m_node.op == "MatMul" || coded != nullptr)
            macs = elements(m_node.output()) * extent(m_node.input(0), 1);
        else if (m_node.op == "Attention")
            macs = (elements(m_node.input(0)) + elements(m_node.output())) * keys();
        else if (traitsOf(m_node).kind == OperatorKind::Recurrent)
            macs = recurrent();
        if (!m_cost.macsReason.empty()) return m_cost;
        m_cost.macs = macs / (m_usedMeasured ? m_measured.samples : 1);
        return m_cost;
    }

  private:
    /// Without scales, zero points and integers that are not codes.
    void countParameters(const IntegerLayer* coded) {
        std::vector<TensorId> inputs = m_node.inputs;
        bool codes = true;
        if (coded != nullptr)
            inputs = {m_node.input(coded->weight), coded->bias ? m_node.input(*coded->bias) : TensorId()};
        else if (m_node.op == "DequantizeLinear" || m_node.op == "QuantizeLinear")
            inputs = {m_node.input(0)};
        else if (isMove(m_node) || isQuantizationOperator(m_node))  // a move: counted at its reader
            return;
        else
            codes = false;
        for (const TensorId in : inputs) {
            const Constant* constant = resolveConstant(m_graph, in);
            if (constant != nullptr && constant->size() > 1 &&
                (codes || constant->type() == DataType::Float32))
                m_cost.parameters += static_cast<std::uint64_t>(constant->size());
        }
    }

    void unknown(TensorId tensor) {
        if (m_cost.macsReason.empty())
            m_cost.macsReason = fmt::format("the shape of '{}' is not known until the network runs",
                                            m_graph.tensor(tensor).name);
    }

    /// The measured shape of a tensor or of the tensor that it is fused into; null if there is none.
    const Dims* measuredDims(TensorId tensor) const {
        if (!m_measured.dims) return nullptr;
        for (int step = 0; step < kMaxSteps && tensor.valid(); ++step) {
            if (const auto found = m_measured.dims->find(tensor); found != m_measured.dims->end())
                return &found->second;
            const NodeId reader = m_graph.onlyConsumer(tensor);
            if (!reader.valid()) return nullptr;
            const Node& node = m_graph.node(reader);
            const bool constantsOnly = std::ranges::all_of(node.inputs, [&](TensorId in) {
                return !in.valid() || in == tensor || m_graph.constantOf(in) != nullptr;
            });
            // Exporters write constant operands with no more dimensions than the data.
            const OperatorTraits& traits = traitsOf(node);
            if (!constantsOnly || !(traits.sameShape || traits.kind == OperatorKind::Elementwise))
                return nullptr;
            tensor = node.output();
        }
        return nullptr;
    }

    /// Returns an empty shape and marks the cost as unknown if the shape is unknown.
    Dims dimsOf(TensorId tensor) {
        if (!tensor.valid()) return {};
        if (const Constant* constant = m_graph.constantOf(tensor)) return constant->dims();
        if (const Dims* measured = measuredDims(tensor)) {
            m_usedMeasured = true;
            return *measured;
        }
        const auto& shape = m_graph.tensor(tensor).shape;
        if (!shape) return unknown(tensor), Dims{};
        Dims dims;
        for (std::size_t d = 0; d < shape->size(); ++d) {
            const Dim& dim = (*shape)[d];
            if (!dim.known()) {
                // If no input has symbols elsewhere, an unknown first dimension is the batch, which a Flatten
                // or Reshape leaves unnamed.
                const bool batch = d == 0 && shape->size() > 1 && !symbolsInInputs(1);
                if (!batch && !isInputSymbol(dim.symbol)) return unknown(tensor), Dims{};
                m_cost.assumed = m_cost.assumed || d > 0;
            }
            dims.push_back(dim.known() ? dim.value : 1);
        }
        return dims;
    }

    /// Whether a graph input has an unknown dimension from `first` on.
    bool symbolsInInputs(std::size_t first) const {
        return std::ranges::any_of(m_graph.inputs(), [&](TensorId input) {
            const auto& shape = m_graph.tensor(input).shape;
            return !shape ||
                   std::any_of(shape->begin() + static_cast<std::ptrdiff_t>(std::min(first, shape->size())),
                               shape->end(), [](const Dim& dim) { return !dim.known(); });
        });
    }

    /// Exporters also name dimensions that they could not compute.
    bool isInputSymbol(const std::string& symbol) const {
        return !symbol.empty() && std::ranges::any_of(m_graph.inputs(), [&](TensorId input) {
            const auto& shape = m_graph.tensor(input).shape;
            return shape && std::ranges::any_of(*shape, [&](const Dim& dim) { return dim.symbol == symbol; });
        });
    }

    std::uint64_t elements(TensorId tensor) {
        std::uint64_t count = 1;
        for (const std::int64_t dim : dimsOf(tensor)) count *= static_cast<std::uint64_t>(dim);
        return count;
    }

    /// Multiplications per element of a convolution's output (of the input, if transposed).
    std::uint64_t perChannel(TensorId weight) {
        const Dims dims = dimsOf(weight);
        std::uint64_t count = 1;
        for (std::size_t d = 1; d < dims.size(); ++d) count *= static_cast<std::uint64_t>(dims[d]);
        return count;
    }

    /// The size of an axis, counted from the end.
    std::uint64_t extent(TensorId tensor, std::size_t fromEnd) {
        const Dims dims = dimsOf(tensor);
        return dims.size() < fromEnd ? 1 : static_cast<std::uint64_t>(dims[dims.size() - fromEnd]);
    }

    /// The number of keys that Attention compares each query with.
    std::uint64_t keys() {
        const TensorId past = m_node.input(4);
        return extent(m_node.input(1), 2) + (past.valid() ? extent(past, 2) : 0);
    }

    /// Every step of every sequence is multiplied by both weights, [directions, gates * hidden, inputs] and
    /// [.., hidden].
    std::uint64_t recurrent() {
        const std::uint64_t width = extent(m_node.input(0), 1);
        const std::uint64_t steps = width == 0 ? 0 : elements(m_node.input(0)) / width;
        return steps * (elements(m_node.input(1)) + elements(m_node.input(2)));
    }

    const Graph& m_graph;
    const Node& m_node;
    const MeasuredShapes& m_measured;
    LayerCost m_cost;
    bool m_usedMeasured = false;
};

}  // namespace

LayerCost costOf(const Graph& graph, const Node& node, const MeasuredShapes& measured) {
    return CostFinder(graph, node, measured).find();
}

}  // namespace quantloupe
