// SPDX-License-Identifier: Apache-2.0
// Operators that work element by element, with broadcasting where there are two operands.
#include <cmath>

#include "base/error.h"
#include "runtime/broadcast.h"
#include "runtime/fake_quant.h"
#include "runtime/operators.h"

namespace quantloupe {
namespace {

template <typename F>
Operator unary(F function) {
    return {[function](const NodeContext& context) -> CompiledNode {
                requireFloat(context, 0);
                const TensorDesc desc = context.input(0);
                const std::size_t count = desc.count();
                auto parameterized = function(context);
                return {{desc}, makeKernel([count, parameterized](const KernelArguments& a) {
                            const auto* in = static_cast<const float*>(a.inputs[0]);
                            auto* out = static_cast<float*>(a.outputs[0]);
                            for (std::size_t i = 0; i < count; ++i) out[i] = parameterized(in[i]);
                        })};
            },
            LayoutPolicy::Any, false};
}

/// For functions without parameters.
template <typename F>
Operator simple(F function) {
    return unary([function](const NodeContext&) { return function; });
}

/// out = f(left, right), walking the output row by row.
template <typename T, typename F>
void broadcastLoop(const Dims& dims, const std::vector<std::size_t>& leftStrides,
                   const std::vector<std::size_t>& rightStrides, const T* left, const T* right, T* out, F f) {
    const std::size_t rank = dims.size();
    if (rank == 0) {
        *out = f(*left, *right);
        return;
    }
    const auto inner = static_cast<std::size_t>(dims[rank - 1]);
    const std::size_t leftStep = leftStrides[rank - 1], rightStep = rightStrides[rank - 1];
    std::vector<std::int64_t> at(rank, 0);
    std::size_t l = 0, r = 0;
    const std::size_t rows = inner == 0 ? 0 : static_cast<std::size_t>(elementCount(dims)) / inner;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < inner; ++i) *out++ = f(left[l + i * leftStep], right[r + i * rightStep]);
        for (std::size_t d = rank - 1; d-- > 0;) {
            l += leftStrides[d];
            r += rightStrides[d];
            if (++at[d] < dims[d]) break;
            l -= leftStrides[d] * static_cast<std::size_t>(dims[d]);
            r -= rightStrides[d] * static_cast<std::size_t>(dims[d]);
            at[d] = 0;
        }
    }
}

template <typename T, typename F>
CompiledNode binaryOf(const NodeContext& context, F f) {
    const TensorDesc left = context.input(0), right = context.input(1);
    if (left.dims == right.dims && left.layout == right.layout) {
        const std::size_t count = left.count();
        return {{left}, makeKernel([count, f](const KernelArguments& a) {
                    const auto* l = static_cast<const T*>(a.inputs[0]);
                    const auto* r = static_cast<const T*>(a.inputs[1]);
                    auto* out = static_cast<T*>(a.outputs[0]);
                    for (std::size_t i = 0; i < count; ++i) out[i] = f(l[i], r[i]);
                })};
    }
    const Dims dims = broadcastDims(left.dims, right.dims);
    return {{{left.type, dims, Layout::Plain}},
            makeKernel([=, leftStrides = broadcastStrides(left.dims, dims),
                        rightStrides = broadcastStrides(right.dims, dims)](const KernelArguments& a) {
                broadcastLoop(dims, leftStrides, rightStrides, static_cast<const T*>(a.inputs[0]),
                              static_cast<const T*>(a.inputs[1]), static_cast<T*>(a.outputs[0]), f);
            })};
}

/// f must work for float and for int64 (shape arithmetic).
template <typename F>
Operator binary(F f) {
    return {[f](const NodeContext& context) -> CompiledNode {
                if (context.input(0).type != context.input(1).type)
                    failInput("{} of a {} and a {} tensor", context.node.op, dataTypeName(context.input(0).type),
                              dataTypeName(context.input(1).type));
                if (context.input(0).type == DataType::Int64) return binaryOf<std::int64_t>(context, f);
                requireFloat(context, 0);
                return binaryOf<float>(context, f);
            },
            LayoutPolicy::Same, false};
}

/// Clip's bounds: attributes up to opset 10, optional inputs since.
Activation clipBounds(const NodeContext& context) {
    Activation bounds;
    bounds.low = context.node.attributes.real("min", bounds.low);
    bounds.high = context.node.attributes.real("max", bounds.high);
    if (context.has(1)) bounds.low = static_cast<float>(context.needConstant(1, "the lower bound of a Clip").scalar());
    if (context.has(2)) bounds.high = static_cast<float>(context.needConstant(2, "the upper bound of a Clip").scalar());
    return bounds;
}

float hardSigmoid(float x, float alpha, float beta) { return std::max(0.0f, std::min(1.0f, alpha * x + beta)); }

}  // namespace

void addElementwise(OperatorTable& table) {
    table["Relu"] = simple([](float x) { return x > 0 ? x : 0.0f; });
    table["Sigmoid"] = simple([](float x) { return 1.0f / (1.0f + std::exp(-x)); });
    table["Tanh"] = simple([](float x) { return std::tanh(x); });
    table["Exp"] = simple([](float x) { return std::exp(x); });
    table["Log"] = simple([](float x) { return std::log(x); });
    table["Sqrt"] = simple([](float x) { return std::sqrt(x); });
    table["Reciprocal"] = simple([](float x) { return 1.0f / x; });
    table["Neg"] = simple([](float x) { return -x; });
    table["Abs"] = simple([](float x) { return std::fabs(x); });
    table["Erf"] = simple([](float x) { return std::erf(x); });
    table["Softplus"] = simple([](float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
    table["HardSwish"] = simple([](float x) { return x * hardSigmoid(x, 1.0f / 6.0f, 0.5f); });
    table["Gelu"] = unary([](const NodeContext& context) {
        const bool tanhForm = context.node.attributes.text("approximate", "none") == "tanh";
        return [tanhForm](float x) {
            if (tanhForm)
                return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
            return 0.5f * x * (1.0f + std::erf(x * 0.70710678118f));
        };
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
        return [=](float x) { return x >= 0 ? x : alpha * (std::exp(x) - 1.0f); };
    });
    table["Clip"] = unary([](const NodeContext& context) {
        const Activation bounds = clipBounds(context);
        return [=](float x) { return std::min(bounds.high, std::max(bounds.low, x)); };
    });

    table["Add"] = binary([](auto l, auto r) { return l + r; });
    table["Sub"] = binary([](auto l, auto r) { return l - r; });
    table["Mul"] = binary([](auto l, auto r) { return l * r; });
    table["Div"] = binary([](auto l, auto r) {
        using T = decltype(l);
        if constexpr (std::is_integral_v<T>) return r == 0 ? T{0} : l / r;
        else return l / r;
    });
    table["Pow"] = binary([](auto l, auto r) { return static_cast<decltype(l)>(std::pow(l, r)); });
    table["Max"] = binary([](auto l, auto r) { return std::max(l, r); });
    table["Min"] = binary([](auto l, auto r) { return std::min(l, r); });
    table["PRelu"] = binary([](auto l, auto r) { return l >= 0 ? l : l * r; });
}

}  // namespace quantloupe
