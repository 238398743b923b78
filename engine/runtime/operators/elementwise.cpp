// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of one operand.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_rows.h"
#include "runtime/ordered/ordered_tiles.h"
#include "runtime/simd.h"
#include "runtime/vector_math.h"

namespace quantloupe {
namespace {

template <typename F>
QUANTLOUPE_SIMD void mapFloats(const float* in, float* out, std::size_t count, F function) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(function(in[i]));
}

/// out[i] = function(left[i], right[i]).
template <typename F>
QUANTLOUPE_SIMD void mapPairs(const float* left, const float* right, float* out, std::size_t count,
                              F function) {
    for (std::size_t i = 0; i < count; ++i) out[i] = function(left[i], right[i]);
}

/// `function` returns, for a node, the function to apply to each element.
template <typename F>
Operator unary(F function) {
    return {[function](const NodeContext& context) -> CompiledNode {
                requireFloat(context, 0);
                const TensorDesc& desc = context.input(0);
                const std::size_t count = desc.count();
                auto parameterized = function(context);
                return {{desc}, makeKernel([count, parameterized](const KernelArguments& a) {
                            mapFloats(static_cast<const float*>(a.inputs[0]),
                                      static_cast<float*>(a.outputs[0]), count, parameterized);
                        })};
            },
            LayoutPolicy::Any, false, true};
}

/// For functions without parameters.
template <typename F>
Operator simple(F function) {
    return unary([function](const NodeContext&) { return function; });
}

template <typename T, typename F>
std::unique_ptr<Kernel> mapKernel(std::size_t count, F function) {
    return makeKernel([=](const KernelArguments& a) {
        const auto* in = static_cast<const T*>(a.inputs[0]);
        auto* out = static_cast<T*>(a.outputs[0]);
        if constexpr (std::is_same_v<T, float>)
            mapFloats(in, out, count, function);
        else
            for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(function(in[i]));
    });
}

/// For functions that are also defined for integers.
template <typename F>
Operator numeric(F function) {
    return {[function](const NodeContext& context) -> CompiledNode {
                const TensorDesc& desc = context.input(0);
                return {{desc}, withArithmeticType(desc.type, context.node.op, [&]<typename T>(T) {
                            return mapKernel<T>(desc.count(), function);
                        })};
            },
            LayoutPolicy::Any, false, true};
}

/// For functions of float32 and float64.
template <typename F>
Operator real(F function) {
    return {[function](const NodeContext& context) -> CompiledNode {
                const TensorDesc& desc = context.input(0);
                if (desc.type == DataType::Float64)
                    return {{desc}, mapKernel<double>(desc.count(), function)};
                requireFloat(context, 0);
                return {{desc}, mapKernel<float>(desc.count(), function)};
            },
            LayoutPolicy::Any, false, true};
}

/// y = function(before(x)), where the function works on arrays, in pieces that fit into the cache; then
/// after(x, y).
template <typename Before, typename Function, typename After>
CompiledNode inPieces(const NodeContext& context, Before before, Function function, After after) {
    requireFloat(context, 0);
    const TensorDesc& desc = context.input(0);
    return {{desc}, makeKernel([=, count = desc.count()](const KernelArguments& a) {
                constexpr std::size_t kPiece = 512;
                float values[kPiece];
                for (std::size_t start = 0; start < count; start += kPiece) {
                    const std::size_t piece = std::min(kPiece, count - start);
                    const float* in = static_cast<const float*>(a.inputs[0]) + start;
                    float* out = static_cast<float*>(a.outputs[0]) + start;
                    mapFloats(in, values, piece, before);
                    function(values, piece);
                    mapPairs(in, values, out, piece, after);
                }
            })};
}

void erfs(float* values, std::size_t count) { orderedErf(values, values, count); }
void tanhs(float* values, std::size_t count) { tiles().curve({Curve::Tanh, 1, values, values, count}); }

CompiledNode compileErf(const NodeContext& context) {
    return inPieces(
        context, [](float x) { return x; }, erfs, [](float, float erf) { return erf; });
}

CompiledNode compileGelu(const NodeContext& context) {
    if (context.node.attributes.text("approximate", "none") == "tanh")
        return inPieces(
            context, [](float x) { return 0.7978845608f * (x + 0.044715f * x * x * x); }, tanhs,
            [](float x, float tanh) { return 0.5f * x * (1.0f + tanh); });
    return inPieces(
        context, [](float x) { return x * 0.70710678118f; }, erfs,
        [](float x, float erf) { return 0.5f * x * (erf + 1.0f); });
}

/// x times or divided by a scale, erf, plus 1, times x, halved: the same operations in the same order as the
/// nodes it replaces, so the result is identical to the last bit.
CompiledNode compileErfGelu(const NodeContext& context) {
    const bool divides = context.node.attributes.has("divisor");
    const float scale = context.node.attributes.real(divides ? "divisor" : "factor", 1.0f);
    return inPieces(
        context, [=](float x) { return divides ? x / scale : x * scale; }, erfs,
        [](float x, float erf) { return x * (erf + 1.0f) * 0.5f; });
}

/// A function of each element that the tiles have for each instruction set.
CompiledNode compileCurve(const NodeContext& context, Curve curve, float alpha = 1) {
    const TensorDesc& desc = context.input(0);
    if (desc.type == DataType::Float64 && curve == Curve::Sigmoid)
        return {{desc}, mapKernel<double>(desc.count(), [](double x) { return 1 / (1 + std::exp(-x)); })};
    if (desc.type == DataType::Float64 && curve == Curve::Tanh)
        return {{desc}, mapKernel<double>(desc.count(), [](double x) { return std::tanh(x); })};
    requireFloat(context, 0);
    return {{desc}, makeKernel([=, count = desc.count()](const KernelArguments& a) {
                tiles().curve({curve, alpha, static_cast<const float*>(a.inputs[0]),
                               static_cast<float*>(a.outputs[0]), count});
            })};
}

/// Bounds are attributes up to opset 10 and optional inputs since then.
template <typename T>
CompiledNode clipTo(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if constexpr (std::is_floating_point_v<T>) {
        low = static_cast<T>(context.node.attributes.real("min", -std::numeric_limits<float>::infinity()));
        high = static_cast<T>(context.node.attributes.real("max", std::numeric_limits<float>::infinity()));
    }
    for (const std::size_t i : {1, 2})
        if (context.has(i) && (context.input(i).count() != 1 || context.input(i).type != desc.type))
            failInput("a bound of Clip must be one value of the input's type, not {} {}",
                      toString(context.input(i).dims), dataTypeName(context.input(i).type));
    const bool bounded[2] = {context.has(1), context.has(2)};
    return {{desc}, makeKernel([=, count = desc.count()](const KernelArguments& a) {
                const T least = bounded[0] ? *static_cast<const T*>(a.inputs[1]) : low;
                const T most = bounded[1] ? *static_cast<const T*>(a.inputs[2]) : high;
                const auto* in = static_cast<const T*>(a.inputs[0]);
                auto* out = static_cast<T*>(a.outputs[0]);
                const auto clip = [=](T x) { return clipped(x, least, most); };
                if constexpr (std::is_same_v<T, float>)
                    mapFloats(in, out, count, clip);
                else
                    for (std::size_t i = 0; i < count; ++i) out[i] = clip(in[i]);
            })};
}

float hardSigmoid(float x, float alpha, float beta) { return clipped(alpha * x + beta, 0.0f, 1.0f); }

}  // namespace

void addElementwise(OperatorTable& table) {
    table["Relu"] = numeric([](auto x) { return x < 0 ? decltype(x)(0) : x; });  // NaN and -0 are kept
    table["Sigmoid"] = {[](const NodeContext& context) { return compileCurve(context, Curve::Sigmoid); },
                        LayoutPolicy::Any, false, true};
    table["Tanh"] = {[](const NodeContext& context) { return compileCurve(context, Curve::Tanh); },
                     LayoutPolicy::Any, false, true};
    table["Exp"] = real([](auto x) {
        if constexpr (std::is_same_v<decltype(x), float>)
            return fastExp(x);
        else
            return std::exp(x);
    });
    table["Log"] = real([](auto x) { return std::log(x); });
    table["Sqrt"] = real([](auto x) { return std::sqrt(x); });
    table["Reciprocal"] = real([](auto x) { return decltype(x)(1) / x; });
    table["Erf"] = {compileErf, LayoutPolicy::Any, false, true};
    table["Softplus"] =
        simple([](float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
    table["Softsign"] = simple([](float x) { return x / (1.0f + std::fabs(x)); });
    table["Mish"] = simple([](float x) { return x * std::tanh(x > 20 ? x : std::log1p(std::exp(x))); });
    table["HardSwish"] = simple([](float x) { return x * hardSigmoid(x, 1.0f / 6.0f, 0.5f); });
    table["Floor"] = real([](auto x) { return std::floor(x); });
    table["Ceil"] = real([](auto x) { return std::ceil(x); });
    table["Round"] = real([](auto x) { return std::nearbyint(x); });
    table["Sin"] = real([](auto x) { return std::sin(x); });
    table["Cos"] = real([](auto x) { return std::cos(x); });
    table["Tan"] = real([](auto x) { return std::tan(x); });
    table["Sinh"] = real([](auto x) { return std::sinh(x); });
    table["Cosh"] = real([](auto x) { return std::cosh(x); });
    table["Asin"] = real([](auto x) { return std::asin(x); });
    table["Acos"] = real([](auto x) { return std::acos(x); });
    table["Atan"] = real([](auto x) { return std::atan(x); });
    table["Asinh"] = real([](auto x) { return std::asinh(x); });
    table["Acosh"] = real([](auto x) { return std::acosh(x); });
    table["Atanh"] = real([](auto x) { return std::atanh(x); });
    table["Neg"] = numeric([](auto x) { return -x; });
    table["Abs"] = numeric([](auto x) {
        if constexpr (std::is_unsigned_v<decltype(x)>)
            return x;
        else
            return x > 0 ? x : 0 - x;  // also 0 for -0
    });
    table["Sign"] = numeric([](auto x) {
        using T = decltype(x);
        if constexpr (std::is_unsigned_v<T>)
            return x > 0 ? 1 : 0;
        else
            return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // zero or NaN
    });
    table[kFusedErfGelu] = {compileErfGelu, LayoutPolicy::Any, false, true};
    table["Gelu"] = {compileGelu, LayoutPolicy::Any, false, true};
    table["com.microsoft.Gelu"] = {compileGelu, LayoutPolicy::Any, false, true};
    table["com.microsoft.QuickGelu"] = {
        [](const NodeContext& context) {
            return compileCurve(context, Curve::Swish, context.node.attributes.real("alpha", 1.702f));
        },
        LayoutPolicy::Any, false, true};
    table["Selu"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 1.67326319f);
        const float gamma = context.node.attributes.real("gamma", 1.05070102f);
        return [=](float x) { return x > 0 ? gamma * x : gamma * (alpha * fastExp(x) - alpha); };
    });
    table["Celu"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 1.0f);
        return [=](float x) { return x > 0 ? x : alpha * (fastExp(x / alpha) - 1.0f); };
    });
    table["ThresholdedRelu"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 1.0f);
        return [=](float x) { return x > alpha ? x : 0.0f; };
    });
    table["Shrink"] = unary([](const NodeContext& context) {
        const float bias = context.node.attributes.real("bias", 0.0f),
                    bound = context.node.attributes.real("lambd", 0.5f);
        return [=](float x) { return x < -bound ? x + bias : x > bound ? x - bias : 0.0f; };
    });
    table["HardSigmoid"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 0.2f);
        const float beta = context.node.attributes.real("beta", 0.5f);
        return [=](float x) { return hardSigmoid(x, alpha, beta); };
    });
    table["LeakyRelu"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 0.01f);
        return [=](float x) { return x >= 0 ? x : alpha * x; };
    });
    table["Elu"] = unary([](const NodeContext& context) {
        const float alpha = context.node.attributes.real("alpha", 1.0f);
        return [=](float x) { return x >= 0 ? x : alpha * (fastExp(x) - 1.0f); };
    });
    table["Clip"] = {[](const NodeContext& context) {
                         return withArithmeticType(context.input(0).type, "Clip",
                                                   [&]<typename T>(T) { return clipTo<T>(context); });
                     },
                     LayoutPolicy::Any, false, true};
}

}  // namespace quantloupe
