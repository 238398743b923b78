// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic on bool tensors, Where, Cast: mostly the shape arithmetic that exporters leave in a
// network.
#include <Eigen/Core>

#include "runtime/operators/broadcast_loops.h"
#include "runtime/operators/numeric_types.h"

namespace quantloupe {
namespace {

template <typename F>
Operator comparison(F f) {
    return {[f](const NodeContext& context) {
                requireSameTypes(context);
                return withNumericType(context.input(0).type, context.node.op, [&]<typename T>(T) {
                    return compileBinary<T, bool>(context, DataType::Bool, f);
                });
            },
            LayoutPolicy::Same};
}

template <typename F>
Operator logic(F f) {
    return {[f](const NodeContext& context) {
                requireSameTypes(context);
                if (context.input(0).type != DataType::Bool)
                    failInput("{} needs bool tensors", context.node.op);
                return compileBinary<bool, bool>(context, DataType::Bool, f);
            },
            LayoutPolicy::Same};
}

/// Calls use(T{}) for the integer types.
template <typename F>
CompiledNode forIntegers(DataType type, std::string_view what, F use) {
    return withArithmeticType(type, what, [&]<typename T>(T zero) -> CompiledNode {
        if constexpr (std::is_integral_v<T>)
            return use(zero);
        else
            failInput("{} needs integers, not {}", what, dataTypeName(type));
    });
}

template <typename F>
Operator bits(F f) {
    return {[f](const NodeContext& context) {
                requireSameTypes(context);
                const DataType type = context.input(0).type;
                return forIntegers(type, context.node.op,
                                   [&]<typename T>(T) { return compileBinary<T, T>(context, type, f); });
            },
            LayoutPolicy::Same};
}

CompiledNode compileBitShift(const NodeContext& context) {
    requireSameTypes(context);
    const std::string direction = context.node.attributes.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT")
        failInput("the direction of a BitShift must be LEFT or RIGHT, not '{}'", direction);
    const DataType type = context.input(0).type;
    return forIntegers(type, "BitShift", [&]<typename T>(T) {
        return compileBinary<T, T>(context, type, [left = direction == "LEFT"](T value, T by) {
            const auto places =
                static_cast<std::uint64_t>(by);  // a negative number is larger than all widths
            if (left)
                return static_cast<T>(places >= 8 * sizeof(T) ? 0
                                                              : static_cast<std::uint64_t>(value) << places);
            // A shift by all bits but one leaves the sign.
            const T shifted = static_cast<T>(value >> std::min<std::uint64_t>(places, 8 * sizeof(T) - 1));
            return std::is_signed_v<T> || places < 8 * sizeof(T) ? shifted : T{0};
        });
    });
}

CompiledNode compileBitwiseNot(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    return forIntegers(desc.type, "BitwiseNot", [&]<typename T>(T) -> CompiledNode {
        return {{desc}, makeKernel([count = desc.count()](const KernelArguments& a) {
                    for (std::size_t i = 0; i < count; ++i)
                        static_cast<T*>(a.outputs[0])[i] =
                            static_cast<T>(~static_cast<const T*>(a.inputs[0])[i]);
                })};
    });
}

CompiledNode compileNot(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    if (desc.type != DataType::Bool) failInput("Not needs a bool tensor");
    return {{desc}, makeKernel([count = desc.count()](const KernelArguments& a) {
                const auto* in = static_cast<const bool*>(a.inputs[0]);
                auto* out = static_cast<bool*>(a.outputs[0]);
                for (std::size_t i = 0; i < count; ++i) out[i] = !in[i];
            })};
}

template <typename T, typename Test>
CompiledNode tested(const TensorDesc& desc, Test test) {
    return {{desc}, makeKernel([count = desc.count(), test](const KernelArguments& a) {
                const auto* in = static_cast<const T*>(a.inputs[0]);
                auto* out = static_cast<bool*>(a.outputs[0]);
                for (std::size_t i = 0; i < count; ++i) out[i] = test(in[i]);
            })};
}

template <typename F>
Operator floatTest(F f) {
    return {[f](const NodeContext& context) -> CompiledNode {
        TensorDesc desc = context.input(0);
        const bool isDouble = desc.type == DataType::Float64;
        if (!isDouble) requireFloat(context, 0);
        desc.type = DataType::Bool;
        return isDouble ? tested<double>(desc, f(context)) : tested<float>(desc, f(context));
    }};
}

template <typename T>
CompiledNode whereOf(const NodeContext& context) {
    const std::array operands{context.input(0), context.input(1), context.input(2)};
    const TensorDesc output = broadcastDesc(context.input(1).type, operands);
    return {{output}, makeKernel([loops = broadcastLoops(output, operands)](const KernelArguments& a) {
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    const auto* condition = static_cast<const bool*>(a.inputs[0]) + offsets[1];
                    const auto* yes = static_cast<const T*>(a.inputs[1]) + offsets[2];
                    const auto* no = static_cast<const T*>(a.inputs[2]) + offsets[3];
                    auto* out = static_cast<T*>(a.outputs[0]) + offsets[0];
                    for (std::size_t i = 0; i < loops.inner(); ++i) {
                        out[i] = *condition ? *yes : *no;
                        condition += loops.innerStep(1);
                        yes += loops.innerStep(2);
                        no += loops.innerStep(3);
                    }
                });
            })};
}

CompiledNode compileWhere(const NodeContext& context) {
    if (context.input(0).type != DataType::Bool) failInput("the condition of a Where must be bool");
    if (context.input(1).type != context.input(2).type)
        failInput("Where chooses between {} and {}", dataTypeName(context.input(1).type),
                  dataTypeName(context.input(2).type));
    return withNumericType(context.input(1).type, "Where",
                           [&]<typename T>(T) { return whereOf<T>(context); });
}

template <typename From, typename To>
std::unique_ptr<Kernel> castKernel(std::size_t count) {
    return makeKernel([count](const KernelArguments& a) {
        const auto* in = static_cast<const From*>(a.inputs[0]);
        auto* out = static_cast<To*>(a.outputs[0]);
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (std::is_same_v<From, Eigen::half> || std::is_same_v<From, Eigen::bfloat16>)
                out[i] = convert<To>(static_cast<float>(in[i]));
            else if constexpr (std::is_same_v<To, Eigen::half> || std::is_same_v<To, Eigen::bfloat16>)
                out[i] = static_cast<To>(static_cast<float>(in[i]));
            else
                out[i] = convert<To>(in[i]);
        }
    });
}

CompiledNode castTo(const NodeContext& context, DataType target) {
    const TensorDesc& input = context.input(0);
    if (input.type == target) return {{input}, nullptr};
    const TensorDesc output{target, input.dims, Layout::Plain};
    const std::size_t count = input.count();
    const auto half = [](DataType type) { return type == DataType::Float16 || type == DataType::BFloat16; };
    if (half(input.type)) {
        return {{output}, withNumericType(target, "Cast", [&]<typename To>(To) {
                    return input.type == DataType::Float16 ? castKernel<Eigen::half, To>(count)
                                                           : castKernel<Eigen::bfloat16, To>(count);
                })};
    }
    return {{output}, withNumericType(input.type, "Cast", [&]<typename From>(From) {
                if (target == DataType::Float16) return castKernel<From, Eigen::half>(count);
                if (target == DataType::BFloat16) return castKernel<From, Eigen::bfloat16>(count);
                return withNumericType(target, "Cast",
                                       [&]<typename To>(To) { return castKernel<From, To>(count); });
            })};
}

CompiledNode compileCast(const NodeContext& context) {
    return castTo(context, static_cast<DataType>(context.node.attributes.integer("to", 0)));
}

/// The same bytes as another type.
CompiledNode compileBitCast(const NodeContext& context) {
    TensorDesc desc = context.input(0);
    const auto target = static_cast<DataType>(context.node.attributes.integer("to", 0));
    const auto hasHalfBytes = [](DataType type) { return type == DataType::Int4 || type == DataType::UInt4; };
    if (elementSize(target) == 0 || elementSize(target) != elementSize(desc.type) || hasHalfBytes(target) ||
        hasHalfBytes(desc.type))
        failInput(
            "BitCast cannot turn {} into {}: both need the same size in bytes (float16 is converted to "
            "float32)",
            dataTypeName(desc.type), dataTypeName(target));
    desc.type = target;
    if (target != DataType::Bool) return {{desc}, nullptr};
    return {{desc}, makeKernel([count = desc.count()](const KernelArguments& a) {
                const auto* in = static_cast<const std::uint8_t*>(a.inputs[0]);
                for (std::size_t i = 0; i < count; ++i) static_cast<bool*>(a.outputs[0])[i] = in[i] != 0;
            })};
}

}  // namespace

void addLogic(OperatorTable& table) {
    table["Equal"] = comparison([](auto l, auto r) { return l == r; });
    table["Greater"] = comparison([](auto l, auto r) { return l > r; });
    table["GreaterOrEqual"] = comparison([](auto l, auto r) { return l >= r; });
    table["Less"] = comparison([](auto l, auto r) { return l < r; });
    table["LessOrEqual"] = comparison([](auto l, auto r) { return l <= r; });
    table["And"] = logic([](bool l, bool r) { return l && r; });
    table["Or"] = logic([](bool l, bool r) { return l || r; });
    table["Xor"] = logic([](bool l, bool r) { return l != r; });
    table["Not"] = {compileNot};
    table["IsNaN"] = floatTest([](const NodeContext&) { return [](auto x) { return std::isnan(x); }; });
    table["IsInf"] = floatTest([](const NodeContext& context) {
        const bool positive = context.node.attributes.integer("detect_positive", 1) != 0;
        const bool negative = context.node.attributes.integer("detect_negative", 1) != 0;
        return [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); };
    });
    table["BitwiseAnd"] = bits([](auto l, auto r) { return l & r; });
    table["BitwiseOr"] = bits([](auto l, auto r) { return l | r; });
    table["BitwiseXor"] = bits([](auto l, auto r) { return l ^ r; });
    table["BitwiseNot"] = {compileBitwiseNot};
    table["BitShift"] = {compileBitShift, LayoutPolicy::Same};
    table["Where"] = {compileWhere, LayoutPolicy::Same};
    table["Cast"] = {compileCast};
    table["BitCast"] = {compileBitCast};
    table["CastLike"] = {[](const NodeContext& context) { return castTo(context, context.input(1).type); }};
}

}  // namespace quantloupe
