// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/operators.h"

#include "base/error.h"

namespace quantloupe {
namespace {

const OperatorTable& table() {
    static const OperatorTable operators = [] {
        OperatorTable all;
        addConvolutions(all);
        addTransposedConvolutions(all);
        addMatrixProducts(all);
        addPools(all);
        addElementwise(all);
        addArithmetic(all);
        addLogic(all);
        addNormalizations(all);
        addLayerNormalizations(all);
        addSoftmaxes(all);
        addReductions(all);
        addShapes(all);
        addMoves(all);
        addGathers(all);
        addGenerators(all);
        addAttention(all);
        addCol2Im(all);
        addSignals(all);
        addScatters(all);
        addControlFlow(all);
        addScans(all);
        addSelections(all);
        addRegions(all);
        addSorts(all);
        addEinsum(all);
        addRecurrences(all);
        addGridSamples(all);
        addDeformableConvolutions(all);
        addPads(all);
        addResizes(all);
        addQuantizers(all);
        addQuantizedLayers(all);
        return all;
    }();
    return operators;
}

}  // namespace

const Operator* findOperator(std::string_view domain, std::string_view op) {
    const auto found = domain.empty() ? table().find(op) : table().find(fmt::format("{}.{}", domain, op));
    return found == table().end() ? nullptr : &found->second;
}

const TensorDesc& NodeContext::input(std::size_t i) const {
    if (!has(i)) failInput("{} needs an input {}", node.op, i);
    return inputs[i];
}

const Constant& NodeContext::needConstant(std::size_t i, std::string_view what) const {
    if (const Constant* value = constant(i)) return *value;
    fail(ErrorKind::Unsupported, "{} must be constant: tensor '{}' is computed from the data", what,
         node.input(i).valid() ? graph.tensor(node.input(i)).name : "(none)");
}

void requireFloat(const NodeContext& context, std::size_t input) {
    const DataType type = context.input(input).type;
    if (type != DataType::Float32)
        fail(ErrorKind::Unsupported, "{} on {} is not supported, only on float32", context.node.op,
             dataTypeName(type));
}

std::int64_t integerOf(const Constant& constant) {
    if (constant.size() != 1)
        failInput("a tensor of {} is given where one integer is needed", toString(constant.dims()));
    return constant.toInt64s()[0];
}

std::size_t normalizedAxis(std::int64_t axis, std::size_t rank) {
    const auto signedRank = static_cast<std::int64_t>(rank);
    if (axis < -signedRank || axis >= signedRank)
        failInput("axis {} does not exist in a tensor of rank {}", axis, rank);
    return static_cast<std::size_t>(axis < 0 ? axis + signedRank : axis);
}

}  // namespace quantloupe
