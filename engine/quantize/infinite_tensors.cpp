// SPDX-License-Identifier: Apache-2.0
#include "quantize/infinite_tensors.h"

#include <algorithm>

#include "base/is_one_of.h"
#include "model/operator_traits.h"

namespace quantloupe {

std::set<TensorId> infiniteTensors(const Graph& graph) {
    std::set<TensorId> found;
    const auto isInfinite = [&](TensorId tensor) {
        if (!tensor.valid()) return false;
        const Constant* constant = graph.constantOf(tensor);
        return constant != nullptr ? constant->hasInfinity() : found.contains(tensor);
    };
    for (const Node& node : graph.nodes()) {
        const bool passes =
            traitsOf(node).copiesValues ||
            isOneOf(node.op, {"Add", "Sub", "Mul", "Where", "Neg", "Expand", "Tile", "Cast", "Dropout"});
        if (!passes || !std::ranges::any_of(node.inputs, isInfinite)) continue;
        for (const TensorId output : node.outputs)
            if (output.valid()) found.insert(output);
    }
    return found;
}

}  // namespace quantloupe
