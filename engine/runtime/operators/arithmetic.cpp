// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two operands (Add, Sub, Mul, Div, Pow, Mod, PRelu) and on any number of operands (Max, Min,
// Sum, Mean), with broadcasting, on float and integer tensors (shape arithmetic).
#include <cmath>
#include <functional>

#include "runtime/operators/broadcast_loops.h"
#include "runtime/operators/numeric_types.h"

namespace quantloupe {
namespace {

template <typename F>
Operator binary(F f) {
    return {[f](const NodeContext& context) {
                requireSameTypes(context);
                const DataType type = context.input(0).type;
                return withArithmeticType(type, context.node.op, [&]<typename T>(T) {
                    return compileBinary<T, T>(context, type, f);
                });
            },
            LayoutPolicy::Same, false, true};
}

/// Folds any number of operands into the output, one after the other.
template <typename T, typename F>
CompiledNode compileVariadic(const NodeContext& context, F f, bool mean) {
    const TensorDesc output = broadcastDesc(context.input(0).type, context.inputs);
    std::vector<StridedLoops> loops;
    for (const TensorDesc& operand : context.inputs)
        loops.push_back(broadcastLoops(output, std::span(&operand, 1)));
    return {{output}, makeKernel([=, count = output.count()](const KernelArguments& a) {
                auto* out = static_cast<T*>(a.outputs[0]);
                for (std::size_t k = 0; k < loops.size(); ++k)
                    loops[k].forEachRow([&](const std::ptrdiff_t* offsets) {
                        const T* operand = static_cast<const T*>(a.inputs[k]) + offsets[1];
                        T* row = out + offsets[0];
                        const std::ptrdiff_t step = loops[k].innerStep(1);
                        if (k == 0)
                            binaryRow(operand, step, operand, step, row, loops[k].inner(),
                                      [](T l, T) { return l; });
                        else
                            binaryRow(row, 1, operand, step, row, loops[k].inner(), f);
                    });
                if (mean)
                    for (std::size_t i = 0; i < count; ++i)
                        out[i] = static_cast<T>(out[i] / static_cast<T>(loops.size()));
            })};
}

template <typename F>
Operator variadic(F f, bool mean = false) {
    return {[=](const NodeContext& context) {
                requireSameTypes(context);
                return withArithmeticType(context.input(0).type, context.node.op, [&]<typename T>(T) {
                    return compileVariadic<T>(context, f, mean);
                });
            },
            LayoutPolicy::Same, false, true};
}

/// Computes F on unsigned integers, so that results wrap around: signed overflow is undefined in C++.
template <typename F>
struct Wrapping {
    template <typename T>
    T operator()(T l, T r) const {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(F()(static_cast<std::uint64_t>(l), static_cast<std::uint64_t>(r)));
        else
            return F()(l, r);
    }
};
using Plus = Wrapping<std::plus<>>;
using Minus = Wrapping<std::minus<>>;
using Times = Wrapping<std::multiplies<>>;

struct Divide {
    template <typename T>
    T operator()(T l, T r) const {
        if constexpr (!std::is_integral_v<T>)
            return l / r;
        else if (r == 0)
            return T{0};
        else if (std::is_signed_v<T> && r == static_cast<T>(-1))
            return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(l));
        else
            return static_cast<T>(l / r);
    }
};

/// base ^ exponent with two types; the result has the type of the base.
template <typename T, typename Exponent>
CompiledNode powerOf(const NodeContext& context) {
    const std::array operands{context.input(0), context.input(1)};
    const TensorDesc output = broadcastDesc(context.input(0).type, operands);
    return {{output}, makeKernel([loops = broadcastLoops(output, operands)](const KernelArguments& a) {
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    const auto* base = static_cast<const T*>(a.inputs[0]) + offsets[1];
                    const auto* exponent = static_cast<const Exponent*>(a.inputs[1]) + offsets[2];
                    auto* out = static_cast<T*>(a.outputs[0]) + offsets[0];
                    for (std::size_t i = 0; i < loops.inner(); ++i) {
                        out[i] = convert<T>(std::pow(*base, *exponent));
                        base += loops.innerStep(1);
                        exponent += loops.innerStep(2);
                    }
                });
            })};
}

CompiledNode compilePow(const NodeContext& context) {
    const Constant* exponent = context.constant(1);
    const TensorDesc& base = context.input(0);
    const bool plainExponent =
        exponent != nullptr && exponent->size() == 1 && exponent->dims().size() <= base.dims.size();
    if (plainExponent && base.type == DataType::Float32) {
        const double value = exponent->scalar();
        const auto ignoring = [&](auto f) {
            NodeContext one = context;
            one.inputs[1] = {DataType::Float32, {}, Layout::Plain};  // any type: the value is not read
            return compileBinary<float, float>(one, DataType::Float32, f);
        };
        if (value == 2.0) return ignoring([](float x, float) { return x * x; });
        // Unlike the root, the power of -0 is 0, and that of minus infinity is infinity.
        if (value == 0.5)
            return ignoring([](float x, float) { return std::isinf(x) ? std::abs(x) : std::sqrt(x + 0.0f); });
        if (value == 3.0) return ignoring([](float x, float) { return x * x * x; });
    }
    const auto ofType = [&]<typename T>(T) {
        return withArithmeticType(context.input(1).type, "Pow with an exponent",
                                  [&]<typename E>(E) { return powerOf<T, E>(context); });
    };
    switch (base.type) {
        case DataType::Float32:
            return ofType(float{});
        case DataType::Float64:
            return ofType(double{});
        case DataType::Int32:
            return ofType(std::int32_t{});
        case DataType::Int64:
            return ofType(std::int64_t{});
        default:
            fail(ErrorKind::Unsupported, "Pow on {} is not supported", dataTypeName(base.type));
    }
}

/// Fuses a Relu or Clip after it, as in residual networks.
CompiledNode compileAdd(const NodeContext& context) {
    requireSameTypes(context);
    const DataType type = context.input(0).type;
    if (context.activation == nullptr)
        return withArithmeticType(type, "Add",
                                  [&]<typename T>(T) { return compileBinary<T, T>(context, type, Plus()); });
    requireFloat(context, 0);
    return compileBinary<float, float>(
        context, type, [bounds = *context.activation](float l, float r) { return bounds(l + r); });
}

/// The rest of a division. Its sign is that of the dividend as in C, or that of the divisor.
template <bool CSign>
struct Modulo {
    template <typename T>
    T operator()(T l, T r) const {
        if constexpr (std::is_floating_point_v<T>) {
            const T rest = std::fmod(l, r);  // 0 has the sign of l
            if (CSign || std::isnan(rest)) return rest;
            if (rest == 0) return std::copysign(rest, r);
            return (rest < 0) != (r < 0) ? rest + r : rest;
        } else {
            if (r == 0 || (std::is_signed_v<T> && r == static_cast<T>(-1))) return T{0};
            const T rest = static_cast<T>(l % r);
            return !CSign && rest != 0 && (rest < 0) != (r < 0) ? static_cast<T>(rest + r) : rest;
        }
    }
};

CompiledNode compileMod(const NodeContext& context) {
    return context.node.attributes.integer("fmod", 0) != 0 ? binary(Modulo<true>()).compile(context)
                                                           : binary(Modulo<false>()).compile(context);
}

bool isNan(auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::isnan(x);
    return false;
}

}  // namespace

void requireSameTypes(const NodeContext& context) {
    for (std::size_t i = 1; i < context.inputs.size(); ++i)
        if (context.input(i).type != context.input(0).type)
            failInput("{} of a {} and a {} tensor", context.node.op, dataTypeName(context.input(0).type),
                      dataTypeName(context.input(i).type));
}

void addArithmetic(OperatorTable& table) {
    table["Add"] = {compileAdd, LayoutPolicy::Same, true, true};
    table["Sub"] = binary(Minus());
    table["Mul"] = binary(Times());
    table["Div"] = binary(Divide());
    table["Pow"] = {compilePow, LayoutPolicy::Same, false, true};
    table["Mod"] = {compileMod, LayoutPolicy::Same, false, true};
    table["PRelu"] =
        binary([](auto l, auto r) { return l > 0 ? l : static_cast<decltype(l)>(l == 0 ? l : l * r); });
    table["Max"] = variadic([](auto l, auto r) { return l < r || isNan(r) ? r : l; });
    table["Min"] = variadic([](auto l, auto r) { return r < l || isNan(r) ? r : l; });
    table["Sum"] = variadic(Plus());
    table["Mean"] = variadic(Plus(), true);
}

}  // namespace quantloupe
