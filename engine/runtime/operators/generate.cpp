// SPDX-License-Identifier: Apache-2.0
// Operators that generate tensors (ConstantOfShape, EyeLike, Range), and running sums and products, and
// triangles (CumSum, CumProd, Trilu).
#include <cstring>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

CompiledNode compileConstantOfShape(const NodeContext& context) {
    ConstantPtr value = context.node.attributes.constant("value");
    if (!value) value = Constant::fromFloats({1}, {0.0f});
    if (value->size() != 1) failInput("ConstantOfShape's value has {} elements, not 1", value->size());
    const TensorDesc output{value->type(), context.needConstant(0, "ConstantOfShape's shape").toInt64s(),
                            Layout::Plain};
    return {{output},
            makeKernel(
                [value, count = output.count(), size = elementSize(output.type)](const KernelArguments& a) {
                    auto* out = static_cast<std::byte*>(a.outputs[0]);
                    for (std::size_t i = 0; i < count; ++i)
                        std::memcpy(out + i * size, value->bytes().data(), size);
                })};
}

CompiledNode compileRange(const NodeContext& context) {
    for (std::size_t i = 0; i < 3; ++i) context.needConstant(i, "the bounds of a Range");
    return withArithmeticType(context.input(0).type, "Range", [&]<typename T>(T) -> CompiledNode {
        T value[3];
        for (std::size_t i = 0; i < 3; ++i) {
            if (context.constant(i)->type() != context.input(0).type || context.constant(i)->size() != 1)
                failInput("Range's start, limit and delta must be scalars of one type");
            std::memcpy(&value[i], context.constant(i)->bytes().data(), sizeof(T));
        }
        if (value[2] == T{0}) failInput("Range's delta is 0");
        const double steps = std::ceil((static_cast<double>(value[1]) - static_cast<double>(value[0])) /
                                       static_cast<double>(value[2]));
        if (!(steps < 1e9)) failInput("Range has {} elements", steps);
        const auto count = static_cast<std::int64_t>(std::max(0.0, steps));
        return {{{context.input(0).type, {count}, Layout::Plain}},
                makeKernel([start = value[0], delta = value[2], count](const KernelArguments& a) {
                    for (std::int64_t i = 0; i < count; ++i)
                        static_cast<T*>(a.outputs[0])[i] = static_cast<T>(start + static_cast<T>(i) * delta);
                })};
    });
}

/// A matrix with ones on a diagonal, in the shape of the input.
CompiledNode compileEyeLike(const NodeContext& context) {
    TensorDesc desc = context.input(0);
    if (desc.dims.size() != 2) failInput("EyeLike needs a matrix, not {}", toString(desc.dims));
    desc.type =
        static_cast<DataType>(context.node.attributes.integer("dtype", static_cast<std::int64_t>(desc.type)));
    const std::int64_t rows = desc.dims[0], columns = desc.dims[1];
    const std::int64_t diagonal = context.node.attributes.integer("k", 0);
    return withNumericType(desc.type, "EyeLike", [&]<typename T>(T) -> CompiledNode {
        return {{desc}, makeKernel([=](const KernelArguments& a) {
                    auto* out = static_cast<T*>(a.outputs[0]);
                    for (std::int64_t row = 0; row < rows; ++row)
                        for (std::int64_t column = 0; column < columns; ++column)
                            *out++ = static_cast<T>(column - row == diagonal);
                })};
    });
}

/// Keeps the elements on one side of a diagonal of the last two dimensions.
CompiledNode compileTrilu(const NodeContext& context) {
    const TensorDesc desc = context.input(0);
    if (desc.dims.size() < 2) failInput("Trilu needs matrices");
    const std::int64_t rows = desc.dims[desc.dims.size() - 2], columns = desc.dims.back();
    const std::int64_t k = context.has(1) ? integerOf(context.needConstant(1, "Trilu's k")) : 0;
    const std::int64_t diagonal = std::clamp(k, -rows, columns);  // farther ones have the same effect
    const bool upper = context.node.attributes.integer("upper", 1) != 0;
    return {{desc},
            makeKernel([=, count = static_cast<std::int64_t>(desc.count()),
                        size = elementSize(desc.type)](const KernelArguments& a) {
                std::memcpy(a.outputs[0], a.inputs[0], static_cast<std::size_t>(count) * size);
                for (std::int64_t i = 0; i < count; ++i) {
                    const std::int64_t row = i / columns % rows, column = i % columns;
                    const bool kept = upper ? column >= row + diagonal : column <= row + diagonal;
                    if (!kept)
                        std::memset(
                            static_cast<std::byte*>(a.outputs[0]) + static_cast<std::size_t>(i) * size, 0,
                            size);
                }
            })};
}

CompiledNode compileRunning(const NodeContext& context, bool product) {
    const TensorDesc desc = context.input(0);
    const auto axisValue = integerOf(context.needConstant(1, context.node.op + "'s axis"));
    const std::size_t axis = normalizedAxis(axisValue, desc.dims.size());
    const bool exclusive = context.node.attributes.integer("exclusive", 0) != 0;
    const bool reverse = context.node.attributes.integer("reverse", 0) != 0;
    const auto extent = static_cast<std::size_t>(desc.dims[axis]);
    const auto inner = static_cast<std::size_t>(desc.strides()[axis]);
    const std::size_t outer = desc.count() == 0 ? 0 : desc.count() / (extent * inner);
    return withArithmeticType(desc.type, context.node.op, [&]<typename T>(T) -> CompiledNode {
        return {{desc}, makeKernel([=](const KernelArguments& a) {
                    for (std::size_t o = 0; o < outer; ++o)
                        for (std::size_t i = 0; i < inner; ++i) {
                            T total = static_cast<T>(product ? 1 : 0);
                            for (std::size_t k = 0; k < extent; ++k) {
                                const std::size_t at =
                                    (o * extent + (reverse ? extent - 1 - k : k)) * inner + i;
                                const T value = static_cast<const T*>(a.inputs[0])[at];
                                const T next = static_cast<T>(product ? total * value : total + value);
                                static_cast<T*>(a.outputs[0])[at] = exclusive ? total : next;
                                total = next;
                            }
                        }
                })};
    });
}

}  // namespace

void addGenerators(OperatorTable& table) {
    const auto plain = LayoutPolicy::Plain;
    table["ConstantOfShape"] = {compileConstantOfShape, plain, false};
    table["EyeLike"] = {compileEyeLike, plain, false};
    table["Range"] = {compileRange, plain, false};
    table["Trilu"] = {compileTrilu, plain, false};
    table["CumSum"] = {[](const NodeContext& c) { return compileRunning(c, false); }, plain, false};
    table["CumProd"] = {[](const NodeContext& c) { return compileRunning(c, true); }, plain, false};
}

}  // namespace quantloupe
