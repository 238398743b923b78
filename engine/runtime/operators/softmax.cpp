// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, Hardmax; and Softmax preceded by a scale and a mask, as in attention, in one pass per
// row.
#include <cmath>

#include "base/error.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"
#include "runtime/ordered/ordered_rows.h"
#include "runtime/row_math.h"
#include "runtime/simd.h"
#include "runtime/vector_math.h"

namespace quantloupe {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// Along an axis that is not the last in memory: processes adjacent columns together.
QUANTLOUPE_SIMD void softmaxColumns(const float* in, float* out, std::size_t width, std::size_t inner,
                                    float* top, float* sum) {
    for (std::size_t i = 0; i < inner; ++i) top[i] = kLowest, sum[i] = 0;
    for (std::size_t k = 0; k < width; ++k)
        for (std::size_t i = 0; i < inner; ++i)
            top[i] = in[k * inner + i] > top[i] ? in[k * inner + i] : top[i];
    for (std::size_t k = 0; k < width; ++k)
        for (std::size_t i = 0; i < inner; ++i) {
            const float value = fastExp(in[k * inner + i] - top[i]);
            out[k * inner + i] = value;
            sum[i] += value;
        }
    for (std::size_t k = 0; k < width; ++k)
        for (std::size_t i = 0; i < inner; ++i) out[k * inner + i] /= sum[i];
}

struct Rows {
    std::size_t outer = 1, width = 1, inner = 1;
};

Rows rowsOf(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    const bool flattened = context.opset() < 13;  // all dimensions from the axis on count as one
    const std::size_t axis =
        normalizedAxis(context.node.attributes.integer("axis", flattened ? 1 : -1), desc.dims.size());
    Rows rows;
    rows.width = static_cast<std::size_t>(desc.dims[axis]);
    for (std::size_t d = 0; d < axis; ++d) rows.outer *= static_cast<std::size_t>(desc.dims[d]);
    for (std::size_t d = axis + 1; d < desc.dims.size(); ++d)
        (flattened ? rows.width : rows.inner) *= static_cast<std::size_t>(desc.dims[d]);
    return rows;
}

class SoftmaxKernel final : public Kernel {
  public:
    explicit SoftmaxKernel(Rows rows) : m_rows(rows) {}
    std::size_t scratchBytes() const override {
        return m_rows.inner == 1 ? 0 : 2 * m_rows.inner * sizeof(float);
    }
    void run(const KernelArguments& a) const override {
        const auto* in = static_cast<const float*>(a.inputs[0]);
        auto* out = static_cast<float*>(a.outputs[0]);
        const std::size_t each = m_rows.width * m_rows.inner;
        auto* scratch = static_cast<float*>(a.scratch);
        for (std::size_t o = 0; o < m_rows.outer; ++o, in += each, out += each) {
            if (m_rows.inner == 1)
                orderedSoftmax(in, out, m_rows.width);
            else
                softmaxColumns(in, out, m_rows.width, m_rows.inner, scratch, scratch + m_rows.inner);
        }
    }

  private:
    Rows m_rows;
};

/// For each row of float32 or float64: body(in, out, width, step).
template <typename F>
CompiledNode eachRow(const NodeContext& context, F body) {
    const auto compiled = [&]<typename T>(T) -> CompiledNode {
        return {{context.input(0)}, makeKernel([body, rows = rowsOf(context)](const KernelArguments& a) {
                    for (std::size_t o = 0; o < rows.outer; ++o)
                        for (std::size_t i = 0; i < rows.inner; ++i) {
                            const std::size_t start = o * rows.width * rows.inner + i;
                            body(static_cast<const T*>(a.inputs[0]) + start,
                                 static_cast<T*>(a.outputs[0]) + start, rows.width, rows.inner);
                        }
                })};
    };
    if (context.input(0).type == DataType::Float64) return compiled(double{});
    requireFloat(context, 0);
    return compiled(float{});
}

template <typename T>
T largestOf(const T* in, std::size_t width, std::size_t step) {
    T top = -std::numeric_limits<T>::infinity();
    for (std::size_t k = 0; k < width; ++k) top = std::max(top, in[k * step]);
    return top;
}

CompiledNode compileSoftmax(const NodeContext& context) {
    if (context.input(0).type != DataType::Float64) {
        requireFloat(context, 0);
        return {{context.input(0)}, std::make_unique<SoftmaxKernel>(rowsOf(context))};
    }
    return eachRow(context, []<typename T>(const T* in, T* out, std::size_t width, std::size_t step) {
        const T top = largestOf(in, width, step);
        T sum = 0;
        for (std::size_t k = 0; k < width; ++k) sum += out[k * step] = std::exp(in[k * step] - top);
        for (std::size_t k = 0; k < width; ++k) out[k * step] /= sum;
    });
}

CompiledNode compileLogSoftmax(const NodeContext& context) {
    return eachRow(context, []<typename T>(const T* in, T* out, std::size_t width, std::size_t step) {
        const T top = largestOf(in, width, step);
        double sum = 0;
        for (std::size_t k = 0; k < width; ++k) sum += static_cast<double>(std::exp(in[k * step] - top));
        const auto shift = static_cast<T>(std::log(sum));
        for (std::size_t k = 0; k < width; ++k) out[k * step] = in[k * step] - top - shift;
    });
}

CompiledNode compileHardmax(const NodeContext& context) {
    return eachRow(context, []<typename T>(const T* in, T* out, std::size_t width, std::size_t step) {
        std::size_t best = 0;
        for (std::size_t k = 0; k < width; ++k) {
            if (in[k * step] > in[best * step]) best = k;
            out[k * step] = 0;
        }
        if (width > 0) out[best * step] = 1;
    });
}

QUANTLOUPE_SIMD void scaleRow(const float* in, float scale, bool divides, const float* mask,
                              std::ptrdiff_t maskStep, float* out, std::size_t width) {
    if (divides)
        for (std::size_t i = 0; i < width; ++i) out[i] = in[i] / scale;
    else
        for (std::size_t i = 0; i < width; ++i) out[i] = in[i] * scale;
    if (mask == nullptr) return;
    if (maskStep == 1)
        for (std::size_t i = 0; i < width; ++i) out[i] += mask[i];
    else
        for (std::size_t i = 0; i < width; ++i) out[i] += *mask;
}

/// Inputs: values and optionally a mask that broadcasts to them. Attributes: divisor or factor.
CompiledNode compileMaskedSoftmax(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    if (desc.dims.empty()) failInput("a masked Softmax needs an axis");
    const bool divides = context.node.attributes.has("divisor");
    const float scale = context.node.attributes.real(divides ? "divisor" : "factor", 1.0f);
    const bool masked = context.has(1);
    const auto width = static_cast<std::size_t>(desc.dims.back());
    StridedLoops::Steps maskSteps(desc.dims.size(), 0);
    if (masked) {
        requireFloat(context, 1);
        if (broadcastDims(desc.dims, context.input(1).dims) != desc.dims)
            failInput("the mask {} does not broadcast to {}", toString(context.input(1).dims),
                      toString(desc.dims));
        maskSteps = broadcastSteps(context.input(1), desc.dims);
    }
    const std::ptrdiff_t maskStep = maskSteps.back();
    // Loops over rows only: a row is one element of these loops.
    const Dims outer(desc.dims.begin(), desc.dims.end() - 1);
    StridedLoops::Steps rowSteps = desc.strides();
    rowSteps.pop_back();
    maskSteps.pop_back();
    const StridedLoops loops(outer, {rowSteps, maskSteps});
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                const auto* mask = masked ? static_cast<const float*>(a.inputs[1]) : nullptr;
                auto* out = static_cast<float*>(a.outputs[0]);
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    std::ptrdiff_t row = offsets[0], shift = offsets[1];
                    for (std::size_t i = 0; i < loops.inner(); ++i) {
                        scaleRow(in + row, scale, divides, mask != nullptr ? mask + shift : nullptr, maskStep,
                                 out + row, width);
                        orderedSoftmax(out + row, out + row, width);
                        row += loops.innerStep(0);
                        shift += loops.innerStep(1);
                    }
                });
            })};
}

}  // namespace

void addSoftmaxes(OperatorTable& table) {
    table["Softmax"] = {compileSoftmax};
    table["LogSoftmax"] = {compileLogSoftmax};
    table["Hardmax"] = {compileHardmax};
    table[kFusedMaskedSoftmax] = {compileMaskedSoftmax};
}

}  // namespace quantloupe
