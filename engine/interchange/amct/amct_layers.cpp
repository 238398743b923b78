// SPDX-License-Identifier: Apache-2.0
#include "interchange/amct/amct_layers.h"

#include "model/operator_traits.h"
#include "transform/pass_through.h"

namespace quantloupe {
namespace {

AmctVerdict no(std::string reason) { return {std::nullopt, std::move(reason)}; }

/// Returns why the tensor cannot be a weight; empty if it can.
std::string weightProblem(const Graph& graph, TensorId weight) {
    if (graph.constantOf(weight) == nullptr) return "its weight is not a constant";
    if (graph.tensor(weight).consumers.size() > 1) return "its weight is shared with another layer";
    return {};
}

AmctVerdict convVerdict(const Graph& graph, const Node& node) {
    const bool transposed = node.op == "ConvTranspose";
    if (std::string problem = weightProblem(graph, node.input(1)); !problem.empty())
        return no(std::move(problem));
    const Dims& dims = graph.constantOf(node.input(1))->dims();
    if (dims.size() < 3 || dims.size() > 5) return no("its kernel has neither one, two nor three dimensions");
    const std::vector<std::int64_t> dilations = node.attributes.integers("dilations");
    if (transposed && !allOnes(dilations)) return no("AMCT supports ConvTranspose only without dilation");
    if (dims.size() == 5 && !dilations.empty() && dilations.front() != 1)
        return no("AMCT supports three-dimensional convolutions only without dilation in depth");
    const std::int64_t group = node.attributes.integer("group", 1);
    AmctLayer layer;
    layer.perChannel = true;
    layer.symmetricOnly = dims.size() == 5;
    layer.sixAndSevenBits = !transposed && dims.size() == 4;
    layer.fourBits = group == 1 && dims[transposed ? 0 : 1] % 2 == 0;
    layer.sixteenBits = dims.size() < 5;
    return {layer, {}};
}

AmctVerdict matrixVerdict(const Graph& graph, const Node& node) {
    const bool gemm = node.op == "Gemm";
    if (gemm && node.attributes.integer("transA", 0) != 0)
        return no("its first operand is transposed (transA)");
    if (std::string problem = weightProblem(graph, node.input(1)); !problem.empty())
        return no(gemm ? problem : "its second operand is not a constant or is shared with another layer");
    const Dims& dims = graph.constantOf(node.input(1))->dims();
    if (dims.size() != 2) return no("its second operand is not a matrix");
    AmctLayer layer;
    layer.fourBits = dims[gemm && node.attributes.integer("transB", 0) != 0 ? 1 : 0] % 2 == 0;
    layer.sixteenBits = gemm;
    return {layer, {}};
}

/// Returns whether the window is as large as the input, as far as the shapes are known.
bool poolsEverything(const Graph& graph, const Node& node) {
    const std::vector<std::int64_t> kernel = node.attributes.integers("kernel_shape");
    if (!node.input(0).valid()) return false;
    const std::optional<Shape>& shape = graph.tensor(node.input(0)).shape;
    if (!shape || shape->size() != kernel.size() + 2) return false;
    for (const std::int64_t pad : node.attributes.integers("pads"))
        if (pad != 0) return false;
    for (std::size_t i = 0; i < kernel.size(); ++i)
        if ((*shape)[i + 2].value != kernel[i]) return false;
    return true;
}

}  // namespace

AmctVerdict amctVerdict(const Graph& graph, const Node& node) {
    if (!node.domain.empty()) return no({});
    if (node.op == "Conv" || node.op == "ConvTranspose") return convVerdict(graph, node);
    if (node.op == "Gemm" || node.op == "MatMul") return matrixVerdict(graph, node);
    if (node.op == "AveragePool") {
        if (poolsEverything(graph, node)) return no("its window covers the whole input (a global pool)");
        AmctLayer layer;
        layer.hasWeight = false;
        return {layer, {}};
    }
    return no({});
}

std::optional<NodeId> amctInputMaker(const Graph& graph, const Node& node) {
    TensorId tensor = node.input(0);
    while (tensor.valid() && graph.tensor(tensor).producer.valid()) {
        const NodeId id = graph.tensor(tensor).producer;
        const Node& maker = graph.node(id);
        if (maker.op != "BatchNormalization" && !isClipping(maker) && !isIdentity(graph, maker) &&
            traitsOf(maker).layers != OutputScale::FromInput)
            return id;
        tensor = maker.input(0);
    }
    return std::nullopt;
}

std::optional<std::int64_t> amctBatchSize(const Graph& graph) {
    if (graph.inputs().empty()) return {};
    const std::optional<Shape>& shape = graph.tensor(graph.inputs()[0]).shape;
    if (!shape || shape->empty() || !shape->front().known() || shape->front().value < 1) return {};
    return shape->front().value;
}

}  // namespace quantloupe
