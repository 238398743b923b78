// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element-wise operators on two operands of any layout, with broadcasting. Used by the files that contain
// such operators.

#include "runtime/operators/broadcast.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"
#include "runtime/simd.h"

namespace quantloupe {

/// The result of broadcasting: channels last if an operand of the full shape is, which avoids a conversion.
inline TensorDesc broadcastDesc(DataType type, std::span<const TensorDesc> operands) {
    TensorDesc output{type, {}, Layout::Plain};
    for (const TensorDesc& operand : operands) output.dims = broadcastDims(output.dims, operand.dims);
    for (const TensorDesc& operand : operands)
        if (type == DataType::Float32 && operand.layout == Layout::ChannelsLast &&
            operand.dims == output.dims)
            output.layout = Layout::ChannelsLast;
    return output;
}

inline StridedLoops broadcastLoops(const TensorDesc& output, std::span<const TensorDesc> operands) {
    std::vector<StridedLoops::Steps> steps{inMemoryOrder(output, output.strides())};
    for (const TensorDesc& operand : operands)
        steps.push_back(inMemoryOrder(output, broadcastSteps(operand, output.dims)));
    return {extentsInMemoryOrder(output), steps};
}

/// out[i] = f(left[i * leftStep], right[i * rightStep]); out may be one of the operands.
template <typename In, typename Out, typename F>
inline __attribute__((always_inline)) void binaryRowBody(const In* left, std::ptrdiff_t leftStep,
                                                         const In* right, std::ptrdiff_t rightStep, Out* out,
                                                         std::size_t count, F f) {
    if (leftStep == 1 && rightStep == 1) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(left[i], right[i]));
    } else if (leftStep == 1 && rightStep == 0) {
        const In r = *right;
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(left[i], r));
    } else if (leftStep == 0 && rightStep == 1) {
        const In l = *left;
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(l, right[i]));
    } else {
        for (std::size_t i = 0; i < count; ++i, left += leftStep, right += rightStep)
            out[i] = static_cast<Out>(f(*left, *right));
    }
}

template <typename F>
QUANTLOUPE_SIMD void binaryRow(const float* left, std::ptrdiff_t leftStep, const float* right,
                               std::ptrdiff_t rightStep, float* out, std::size_t count, F f) {
    binaryRowBody(left, leftStep, right, rightStep, out, count, f);
}

template <typename In, typename Out, typename F>
void binaryRow(const In* left, std::ptrdiff_t leftStep, const In* right, std::ptrdiff_t rightStep, Out* out,
               std::size_t count, F f) {
    binaryRowBody(left, leftStep, right, rightStep, out, count, f);
}

/// An operator on inputs 0 and 1, both of type In.
template <typename In, typename Out, typename F>
CompiledNode compileBinary(const NodeContext& context, DataType outputType, F f) {
    const std::array operands{context.input(0), context.input(1)};
    const TensorDesc output = broadcastDesc(outputType, operands);
    return {{output}, makeKernel([loops = broadcastLoops(output, operands), f](const KernelArguments& a) {
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    binaryRow(static_cast<const In*>(a.inputs[0]) + offsets[1], loops.innerStep(1),
                              static_cast<const In*>(a.inputs[1]) + offsets[2], loops.innerStep(2),
                              static_cast<Out*>(a.outputs[0]) + offsets[0], loops.inner(), f);
                });
            })};
}

/// Throws Error unless all inputs have the type of the first.
void requireSameTypes(const NodeContext& context);

}  // namespace quantloupe
