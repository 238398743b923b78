// SPDX-License-Identifier: Apache-2.0
#include "transform/own_constants.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "model/graph_builder.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Whether an operator set quantizes the constants of this operator (quantize/units.cpp). Bounds of Clips and
/// exponents, which many nodes share, stay as they are.
bool quantizesConstants(const Node& node) {
    const OperatorTraits& traits = traitsOf(node);
    return multipliesWeight(node) ||
           std::ranges::any_of(std::initializer_list<OutputScale>{traits.layers, traits.onnxRuntime,
                                                                  traits.quark, traits.aimet},
                               [](OutputScale scale) { return scale != OutputScale::None; });
}

bool isShareable(const TensorInfo& tensor, const Node& reader) {
    return tensor.constant && tensor.constant->type() == DataType::Float32 &&
           (tensor.constant->size() > 1 || quantizesConstants(reader));
}

}  // namespace

GraphPtr withOwnConstants(const GraphPtr& source) {
    std::vector<bool> taken(source->tensorCount(), false);
    for (const TensorId output : source->outputs()) taken[output.index()] = true;
    GraphBuilder builder(*source);
    bool changed = false;
    for (std::size_t n = 0; n < source->nodeCount(); ++n) {
        for (std::size_t i = 0; i < source->node(NodeId(n)).inputs.size(); ++i) {
            const TensorId input = source->node(NodeId(n)).inputs[i];
            if (!input.valid() || !isShareable(source->tensor(input), source->node(NodeId(n)))) continue;
            if (!taken[input.index()]) {
                taken[input.index()] = true;
                continue;
            }
            const TensorInfo& shared = source->tensor(input);
            builder.node(NodeId(n)).inputs[i] =
                builder.addConstant(builder.unusedTensorName(shared.name), shared.constant);
            changed = true;
        }
    }
    return changed ? builder.build() : source;
}

GraphPtr withSharedConstants(const GraphPtr& source) {
    std::unordered_map<const Constant*, TensorId> first;
    for (const TensorId output : source->outputs())
        if (source->tensor(output).constant) first.emplace(source->tensor(output).constant.get(), output);
    GraphBuilder builder(*source);
    bool changed = false;
    for (std::size_t n = 0; n < source->nodeCount(); ++n)
        for (TensorId& input : builder.node(NodeId(n)).inputs) {
            if (!input.valid() || !source->tensor(input).constant) continue;
            const auto [known, isNew] = first.emplace(source->tensor(input).constant.get(), input);
            changed = changed || input != known->second;
            input = known->second;
        }
    return changed ? builder.build() : source;
}

}  // namespace quantloupe
