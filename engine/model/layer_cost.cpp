// SPDX-License-Identifier: Apache-2.0
#include "model/layer_cost.h"

namespace quantloupe {
namespace {

/// Elements of a tensor for one sample; 0 if unknown.
std::uint64_t elementsOf(const Graph& graph, TensorId id) {
    if (!id.valid() || !graph.tensor(id).shape) return 0;
    std::uint64_t count = 1;
    const Shape& shape = *graph.tensor(id).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d == 0 && shape.size() > 1 && !shape[d].known()) continue;
        if (!shape[d].known()) return 0;
        count *= static_cast<std::uint64_t>(shape[d].value);
    }
    return count;
}

}  // namespace

LayerCost costOf(const Graph& graph, const Node& node) {
    LayerCost cost;
    for (const TensorId in : node.inputs) {
        const Constant* constant = graph.constantOf(in);
        if (constant != nullptr && constant->type() == DataType::Float32 && constant->size() > 1)
            cost.parameters += static_cast<std::uint64_t>(constant->size());
    }
    const Constant* weight = graph.constantOf(node.input(1));
    if (weight == nullptr || weight->dims().size() < 2 || !node.domain.empty()) return cost;
    const std::uint64_t outputs = elementsOf(graph, node.output());
    const Dims& dims = weight->dims();
    std::uint64_t each = 0;  // products for one output element
    if (node.op == "Conv") {
        each = 1;
        for (std::size_t d = 1; d < dims.size(); ++d) each *= static_cast<std::uint64_t>(dims[d]);
    } else if (node.op == "Gemm") {
        each = static_cast<std::uint64_t>(dims[node.attributes.integer("transB", 0) != 0 ? 1 : 0]);
    } else if (node.op == "MatMul") {
        each = static_cast<std::uint64_t>(dims[dims.size() - 2]);
    }
    cost.macs = outputs * each;
    return cost;
}

}  // namespace quantloupe
