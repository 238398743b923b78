// SPDX-License-Identifier: Apache-2.0
#include "model/clip_bounds.h"

#include "model/operator_traits.h"

namespace quantloupe {

std::optional<ClipBounds> clipBounds(const Graph& graph, const Node& node) {
    ClipBounds bounds;
    if (!isClipping(node)) return {};
    if (node.op == "Relu") {
        bounds.low = 0;
        return bounds;
    }
    // Attributes up to opset 10, inputs since then.
    bounds.low = static_cast<double>(node.attributes.real("min", static_cast<float>(bounds.low)));
    bounds.high = static_cast<double>(node.attributes.real("max", static_cast<float>(bounds.high)));
    for (const auto& [input, bound] :
         {std::pair(std::size_t(1), &bounds.low), {std::size_t(2), &bounds.high}}) {
        if (!node.input(input).valid()) continue;
        const Constant* constant = graph.constantOf(node.input(input));
        if (constant == nullptr || constant->size() != 1) return {};
        *bound = constant->scalar();
    }
    return bounds;
}

}  // namespace quantloupe
