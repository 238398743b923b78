// SPDX-License-Identifier: Apache-2.0
#include "model/layer_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/moved_constants.h"
#include "model/operator_traits.h"
#include "model/quantized_model.h"
#include "model/sample_axes.h"

namespace quantloupe {
namespace {

constexpr int kMaxSteps = 6;

/// Returns the node that a tensor may have been fused into: its only reader, or the product of a Swish,
/// which reads it and its sigmoid. Invalid if the output may have another shape.
NodeId readerOfSameShape(const Graph& graph, TensorId tensor) {
    for (const NodeId reader : graph.tensor(tensor).consumers) {
        const Node& node = graph.node(reader);
        const bool only = graph.onlyConsumer(tensor) == reader;
        const bool ownOperands = std::ranges::all_of(node.inputs, [&](TensorId in) {
            if (!in.valid() || in == tensor || graph.constantOf(in) != nullptr) return true;
            const NodeId producer = graph.tensor(in).producer;
            return producer.valid() && traitsOf(graph.node(producer)).sameShape &&
                   graph.node(producer).input(0) == tensor;
        });
        // Exporters write constant operands with no more dimensions than the data.
        const OperatorTraits& traits = traitsOf(node);
        if (ownOperands && ((only && traits.sameShape) || traits.kind == OperatorKind::Elementwise))
            return reader;
    }
    return {};
}

/// The number of samples in the model's own shapes.
std::uint64_t fixedBatchOf(const Graph& graph) {
    const SampleAxes axes = sampleAxes(graph);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto& shape = graph.tensor(graph.inputs()[i]).shape;
        if (axes[i] && shape && *axes[i] < shape->size() && (*shape)[*axes[i]].known() &&
            (*shape)[*axes[i]].value > 1)
            return static_cast<std::uint64_t>((*shape)[*axes[i]].value);
    }
    return 1;
}

class CostFinder {
  public:
    CostFinder(const Graph& graph, const Node& node, const MeasuredShapes& measured, std::uint64_t fixedBatch)
        : m_graph(graph), m_node(node), m_measured(measured), m_fixedBatch(fixedBatch) {}

    LayerCost find() {
        const IntegerLayer* const coded = integerLayer(m_node);
        for (const Constant* constant : parametersOf(m_graph, m_node))
            m_cost.parameters += static_cast<std::uint64_t>(constant->size());
        if (!m_node.domain.empty() && coded == nullptr) return m_cost;
        std::uint64_t macs = 0;
        if (coded != nullptr && coded->convolution)
            macs = perSample(m_node.output()) * perChannel(m_node.input(coded->weight));
        else if (m_node.op == "Conv")
            macs = perSample(m_node.output()) * perChannel(m_node.input(1));
        else if (m_node.op == "ConvTranspose")
            macs = perSample(m_node.input(0)) * perChannel(m_node.input(1));
        else if (m_node.op == "Gemm" || m_node.op == "QGemm")
            macs = perSample(m_node.output()) *
                   extent(m_node.input(0), m_node.attributes.integer("transA", 0) != 0 ? 2 : 1);
        else if (m_node.op == "MatMul" || coded != nullptr)
            macs = products();
        else if (m_node.op == "Attention")
            macs = (perSample(m_node.input(0)) + perSample(m_node.output())) * keys();
        else if (m_node.op == "Einsum" && m_node.inputs.size() > 1)
            macs = perSample(m_node.output()) * summed();
        else if (traitsOf(m_node).kind == OperatorKind::Recurrent)
            macs = recurrent();
        if (!m_cost.macsReason.empty()) return m_cost;
        m_cost.macs = macs;
        return m_cost;
    }

  private:
    void unknown(TensorId tensor) {
        if (m_cost.macsReason.empty())
            m_cost.macsReason = fmt::format("the shape of '{}' is not known until the network runs",
                                            m_graph.tensor(tensor).name);
    }

    /// Returns an empty shape and marks the cost as unknown if the shape is unknown.
    Dims dimsOf(TensorId tensor) {
        if (!tensor.valid()) return {};
        if (const Constant* constant = m_graph.constantOf(tensor)) return constant->dims();
        if (const Dims* measured = measuredDims(m_graph, tensor, m_measured)) {
            m_usedMeasured = true;
            return *measured;
        }
        const auto& shape = m_graph.tensor(tensor).shape;
        if (!shape) return unknown(tensor), Dims{};
        if (const auto& dims = m_graph.tensor(tensor).assumedDims) {
            m_cost.assumed =
                m_cost.assumed || std::any_of(shape->begin() + (shape->empty() ? 0 : 1), shape->end(),
                                              [](const Dim& dim) { return !dim.known(); });
            return *dims;
        }
        Dims dims;
        for (std::size_t d = 0; d < shape->size(); ++d) {
            const Dim& dim = (*shape)[d];
            if (!dim.known()) {
                // If no input has symbols elsewhere, an unknown first dimension is the batch, which a Flatten
                // or Reshape leaves unnamed.
                const bool batch = d == 0 && shape->size() > 1 && !symbolsInInputs(1);
                const bool ofInput = isInputSymbol(dim.symbol);
                if (!batch && !ofInput) return unknown(tensor), Dims{};
                m_cost.guessed = m_cost.guessed || !ofInput;
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

    /// Some shapes may be measured, and those of fused tensors not.
    std::uint64_t perSample(TensorId tensor) {
        m_usedMeasured = false;
        const std::uint64_t count = elements(tensor);
        return count / (m_usedMeasured ? m_measured.samples : m_fixedBatch);
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

    /// The multiplications of a MatMul. If its output was not measured, because it is fused with the Add of a
    /// computed bias, they follow from the input.
    std::uint64_t products() {
        const Constant* const right = m_graph.constantOf(m_node.input(1));
        const auto measured = [&](TensorId tensor) { return measuredDims(m_graph, tensor, m_measured); };
        if (right != nullptr && right->dims().size() == 2 && measured(m_node.output()) == nullptr &&
            measured(m_node.input(0)) != nullptr)
            return perSample(m_node.input(0)) * static_cast<std::uint64_t>(right->dims()[1]);
        return perSample(m_node.output()) * extent(m_node.input(0), 1);
    }

    /// The number of keys that Attention compares each query with.
    std::uint64_t keys() {
        const TensorId past = m_node.input(4);
        return extent(m_node.input(1), 2) + (past.valid() ? extent(past, 2) : 0);
    }

    /// The number of products that an Einsum adds up for each element of its output.
    std::uint64_t summed() {
        const std::string equation = m_node.attributes.text("equation", "");
        const std::size_t arrow = equation.find("->");
        std::string_view terms = std::string_view(equation).substr(0, arrow);
        std::map<char, std::uint64_t> extents, uses;
        for (const TensorId operand : m_node.inputs) {
            std::string term(terms.substr(0, terms.find(',')));
            terms.remove_prefix(std::min(terms.size(), term.size() + 1));
            std::erase(term, ' ');
            for (std::size_t i = 0, dots = term.find("..."); i < term.size(); ++i) {
                if (term[i] == '.') continue;
                const std::size_t fromEnd =
                    i < dots && dots != term.npos ? std::max(dimsOf(operand).size(), i) - i : term.size() - i;
                std::uint64_t& known = extents[term[i]];
                known = std::max(known, extent(operand, fromEnd));
                ++uses[term[i]];
            }
        }
        std::uint64_t count = 1;
        for (const auto& [label, size] : extents)
            if (arrow == equation.npos ? uses[label] > 1 : equation.find(label, arrow) == equation.npos)
                count *= size;
        return count;
    }

    /// Every step of every sequence is multiplied by both weights, [directions, gates * hidden, inputs] and
    /// [.., hidden].
    std::uint64_t recurrent() {
        const std::uint64_t width = extent(m_node.input(0), 1);
        const std::uint64_t steps = width == 0 ? 0 : perSample(m_node.input(0)) / width;
        return steps * (elements(m_node.input(1)) + elements(m_node.input(2)));
    }

    const Graph& m_graph;
    const Node& m_node;
    const MeasuredShapes& m_measured;
    const std::uint64_t m_fixedBatch;
    LayerCost m_cost;
    bool m_usedMeasured = false;
};

}  // namespace

const Dims* measuredDims(const Graph& graph, TensorId tensor, const MeasuredShapes& measured) {
    if (!measured.dims) return nullptr;
    for (int step = 0; step < kMaxSteps && tensor.valid(); ++step) {
        if (const auto found = measured.dims->find(tensor); found != measured.dims->end())
            return &found->second;
        const NodeId reader = readerOfSameShape(graph, tensor);
        if (!reader.valid()) return nullptr;
        tensor = graph.node(reader).output();
    }
    return nullptr;
}

std::vector<const Constant*> parametersOf(const Graph& graph, const Node& node) {
    const IntegerLayer* const coded = integerLayer(node);
    std::vector<TensorId> inputs = node.inputs;
    bool codes = true;
    if (coded != nullptr)
        inputs = {node.input(coded->weight), coded->bias ? node.input(*coded->bias) : TensorId()};
    else if (node.op == "DequantizeLinear" || node.op == "QuantizeLinear")
        inputs = {node.input(0)};
    else if (isMove(node) || isQuantizationOperator(node) ||
             (assemblesWeights(graph, node) && !rootConstants(graph, node.output()).empty()))
        return {};
    else
        codes = false;
    if (node.op == "Resize" || node.op == "Upsample") inputs.resize(1);  // the others are scales and sizes
    std::vector<const Constant*> found;
    for (const TensorId in : inputs)
        for (const Constant* constant : rootConstants(graph, in))
            if (constant->size() > 1 && (codes || graph.tensor(in).type == DataType::Float32) &&
                !std::ranges::count(found, constant))
                found.push_back(constant);
    return found;
}

LayerCosts::LayerCosts(const Graph& graph, MeasuredShapes measured)
    : m_graph(graph), m_measured(std::move(measured)), m_fixedBatch(fixedBatchOf(graph)) {}

LayerCost LayerCosts::of(const Node& node) const {
    return CostFinder(m_graph, node, m_measured, m_fixedBatch).find();
}

}  // namespace quantloupe
