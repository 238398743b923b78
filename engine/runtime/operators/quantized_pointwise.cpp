// SPDX-License-Identifier: Apache-2.0
// Sums, products, activations, concatenation and average pools on integers, as in ONNX Runtime's QOperator
// format (com.microsoft). Each code has one result, so the activations and Concat are tables of 256 codes;
// the others are computed in float and rounded. Source: ONNX Runtime's ContribOperators.md. Limitation: 8
// bits only, except for sums and products; ONNX Runtime's Softmax rounds in integers and can differ by one
// code.
#include "runtime/operators/quantized_pointwise.h"

#include <array>
#include <cmath>

#include "runtime/integer/integer_types.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/quantized_codes.h"
#include "runtime/operators/strided.h"
#include "runtime/operators/window.h"

namespace quantloupe {
namespace {

struct Quantizer {
    float scale = 1;
    std::int32_t zero = 0;
};

Quantizer quantizerAt(const NodeContext& context, std::size_t scale) {
    return {scaleAt(context, scale), zeroAt(context, scale + 1)};
}

bool isSigned(const NodeContext& context, const TensorDesc& input) {
    if (input.type != DataType::Int8 && input.type != DataType::UInt8)
        fail(ErrorKind::Unsupported, "{} on {} is not supported", context.node.op, dataTypeName(input.type));
    return input.type == DataType::Int8;
}

float valueOf(std::uint8_t byte, bool isSigned, const Quantizer& q) {
    const int code = isSigned ? static_cast<std::int8_t>(byte) : byte;
    return static_cast<float>(code - q.zero) * q.scale;
}

std::uint8_t codeOf(float value, bool isSigned, const Quantizer& q) {
    if (isSigned) return static_cast<std::uint8_t>(saturated<std::int8_t>(value / q.scale, q.zero));
    return saturated<std::uint8_t>(value / q.scale, q.zero);
}

/// Adds the zero point before rounding, as ONNX Runtime's pools do: near a half, the sum can round
/// differently.
std::uint8_t pooledCode(float value, bool isSigned, const Quantizer& q) {
    const float code = std::nearbyint(value / q.scale + static_cast<float>(q.zero));
    if (isSigned)
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::max(-128.0f, std::min(code, 127.0f))));
    return static_cast<std::uint8_t>(std::max(0.0f, std::min(code, 255.0f)));
}

using Table = std::array<std::uint8_t, 256>;

template <typename F>
Table tableOf(bool isSigned, const Quantizer& in, const Quantizer& out, F f) {
    Table table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte)
        table[byte] = codeOf(f(valueOf(static_cast<std::uint8_t>(byte), isSigned, in)), isSigned, out);
    return table;
}

template <typename F>
CompiledNode activation(const NodeContext& context, F f) {
    const TensorDesc& input = context.input(0);
    const Table table =
        tableOf(isSigned(context, input), quantizerAt(context, 1), quantizerAt(context, 3), f);
    return {{input}, makeKernel([table, count = input.count()](const KernelArguments& a) {
                const auto* x = static_cast<const std::uint8_t*>(a.inputs[0]);
                auto* y = static_cast<std::uint8_t*>(a.outputs[0]);
                for (std::size_t i = 0; i < count; ++i) y[i] = table[x[i]];
            })};
}

CompiledNode compileLeakyRelu(const NodeContext& context) {
    return activation(context, [alpha = context.node.attributes.real("alpha", 0.01f)](float x) {
        return x >= 0 ? x : alpha * x;
    });
}

CompiledNode compileCodedSigmoid(const NodeContext& context) {
    return activation(context, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}

/// Over one axis or, before opset 13, over all axes from it on.
CompiledNode compileCodedSoftmax(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const bool sign = isSigned(context, input);
    const bool together = context.node.attributes.integer("opset", context.opset()) < 13;
    const std::size_t axis =
        normalizedAxis(context.node.attributes.integer("axis", together ? 1 : -1), input.dims.size());
    const auto strides = input.strides();
    const auto extent = static_cast<std::size_t>(input.dims[axis]);
    const std::size_t step = together ? 1 : static_cast<std::size_t>(strides[axis]);
    const std::size_t length = together ? extent * static_cast<std::size_t>(strides[axis]) : extent;
    return {{input},
            makeKernel([=, in = quantizerAt(context, 1), out = quantizerAt(context, 3),
                        count = input.count()](const KernelArguments& a) {
                const auto* x = static_cast<const std::uint8_t*>(a.inputs[0]);
                auto* y = static_cast<std::uint8_t*>(a.outputs[0]);
                std::vector<float> row(length);
                for (std::size_t block = 0; block < count; block += length * step)
                    for (std::size_t inner = 0; inner < step; ++inner) {
                        const std::size_t start = block + inner;
                        float most = -INFINITY, sum = 0;
                        for (std::size_t i = 0; i < length; ++i)
                            most = std::max(most, row[i] = valueOf(x[start + i * step], sign, in));
                        for (float& value : row) sum += value = std::exp(value - most);
                        for (std::size_t i = 0; i < length; ++i)
                            y[start + i * step] = codeOf(row[i] / sum, sign, out);
                    }
            })};
}

/// Inputs: the output's scale and zero point, then each part with its scale and zero point.
CompiledNode compileQuantizedConcat(const NodeContext& context) {
    const std::size_t parts = (context.inputs.size() - std::min<std::size_t>(context.inputs.size(), 2)) / 3;
    if (parts == 0 || context.inputs.size() != 2 + 3 * parts)
        failInput("QLinearConcat needs a scale and a zero point for each of its inputs");
    const TensorDesc& first = context.input(2);
    const bool sign = isSigned(context, first);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), first.dims.size());
    TensorDesc output{first.type, first.dims, Layout::Plain};
    output.dims[axis] = 0;
    const std::size_t outer = axisExtents(first.dims, axis).outer;
    struct Part {
        Table table;
        std::size_t run;
    };
    std::vector<Part> tables;
    const Quantizer out = quantizerAt(context, 0);
    for (std::size_t p = 0; p < parts; ++p) {
        const TensorDesc& part = context.input(2 + 3 * p);
        Dims expected = first.dims;
        if (part.dims.size() == expected.size()) expected[axis] = part.dims[axis];
        if (part.type != first.type || part.dims != expected)
            failInput("QLinearConcat of {} and {} is not possible", toString(first.dims),
                      toString(part.dims));
        output.dims[axis] += part.dims[axis];
        tables.push_back({tableOf(sign, quantizerAt(context, 3 + 3 * p), out, [](float x) { return x; }),
                          outer == 0 ? 0 : part.count() / outer});
    }
    return {{output}, makeKernel([tables, outer](const KernelArguments& a) {
                auto* y = static_cast<std::uint8_t*>(a.outputs[0]);
                for (std::size_t o = 0; o < outer; ++o)
                    for (std::size_t p = 0; p < tables.size(); ++p) {
                        const auto* x =
                            static_cast<const std::uint8_t*>(a.inputs[2 + 3 * p]) + o * tables[p].run;
                        for (std::size_t i = 0; i < tables[p].run; ++i) *y++ = tables[p].table[x[i]];
                    }
            })};
}

CompiledNode compileAveragePool(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    if (input.dims.size() != 4 || context.node.attributes.integer("channels_last", 0) != 0)
        fail(ErrorKind::Unsupported, "QLinearAveragePool is supported in two dimensions, channels first");
    const bool sign = isSigned(context, input);
    const Window window = windowOf(context, {input.dims[2], input.dims[3]}, {});
    const TensorDesc output{
        input.type, {input.dims[0], input.dims[1], window.output[0], window.output[1]}, Layout::Plain};
    const bool withPadding = context.node.attributes.integer("count_include_pad", 0) != 0;
    return {
        {output},
        makeKernel([=, in = quantizerAt(context, 1),
                    out = quantizerAt(context, 3)](const KernelArguments& a) {
            const auto* x = static_cast<const std::uint8_t*>(a.inputs[0]);
            auto* y = static_cast<std::uint8_t*>(a.outputs[0]);
            const std::int64_t height = input.dims[2], width = input.dims[3];
            for (std::int64_t plane = 0; plane < input.dims[0] * input.dims[1]; ++plane, x += height * width)
                for (std::int64_t row = 0; row < window.output[0]; ++row)
                    for (std::int64_t column = 0; column < window.output[1]; ++column) {
                        float sum = 0;
                        std::int64_t count = 0;
                        for (std::int64_t ky = 0; ky < window.kernel[0]; ++ky)
                            for (std::int64_t kx = 0; kx < window.kernel[1]; ++kx) {
                                const std::int64_t r =
                                    row * window.strides[0] - window.padBegin[0] + ky * window.dilations[0];
                                const std::int64_t c = column * window.strides[1] - window.padBegin[1] +
                                                       kx * window.dilations[1];
                                if (r < 0 || c < 0 || r >= height || c >= width) continue;
                                sum += valueOf(x[r * width + c], sign, in);
                                ++count;
                            }
                        if (withPadding) count = window.kernel[0] * window.kernel[1];
                        *y++ =
                            pooledCode(sum / static_cast<float>(std::max<std::int64_t>(count, 1)), sign, out);
                    }
        })};
}

/// An operator on two inputs, with broadcasting: steps(left, right) gets the codes without zero points, and
/// returns the number of steps of the output.
template <typename F>
CompiledNode elementwise(const NodeContext& context, F steps) {
    const TensorDesc &left = context.input(0), &right = context.input(3);
    const TensorDesc output{left.type, broadcastDims(left.dims, right.dims), Layout::Plain};
    struct Operand {
        CodeReader load;
        std::int32_t zero;
        std::size_t count;

        std::vector<std::int32_t> values(const void* codes) const {
            std::vector<std::int32_t> result(count);
            load(codes, count, zero, result.data());
            return result;
        }
    };
    const auto operandOf = [&](std::size_t input) {
        const TensorDesc& desc = context.input(input);
        return Operand{codeReader(desc.type, context.node.op), zeroAt(context, input + 2), desc.count()};
    };
    return {{output},
            makeKernel([steps, l = operandOf(0), r = operandOf(3),
                        store = codeWriter(left.type, zeroAt(context, 7), context.node.op),
                        loops = StridedLoops(output.dims, {broadcastSteps(left, output.dims),
                                                           broadcastSteps(right, output.dims)})](
                           const KernelArguments& a) {
                const std::vector<std::int32_t> x = l.values(a.inputs[0]), y = r.values(a.inputs[3]);
                std::size_t at = 0;
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    for (std::size_t i = 0; i < loops.inner(); ++i) {
                        const auto step = static_cast<std::ptrdiff_t>(i);
                        const auto from = static_cast<std::size_t>(offsets[0] + step * loops.innerStep(0));
                        const auto with = static_cast<std::size_t>(offsets[1] + step * loops.innerStep(1));
                        store(steps(static_cast<float>(x[from]), static_cast<float>(y[with])), a.outputs[0],
                              at++);
                    }
                });
            })};
}

// Both multiply by ratios of the scales in ONNX Runtime's order, so that ties are rounded in the same way.

CompiledNode compileAdd(const NodeContext& context) {
    const float left = scaleAt(context, 1) / scaleAt(context, 6),
                right = scaleAt(context, 4) / scaleAt(context, 6);
    return elementwise(context, [=](float l, float r) { return l * left + r * right; });
}

CompiledNode compileMul(const NodeContext& context) {
    const float ratio = scaleAt(context, 1) * scaleAt(context, 4) / scaleAt(context, 6);
    return elementwise(context, [=](float l, float r) { return l * r * ratio; });
}

CompiledNode compileGlobalAveragePool(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    if (input.dims.size() < 3 || context.node.attributes.integer("channels_last", 0) != 0)
        fail(ErrorKind::Unsupported, "QLinearGlobalAveragePool with channels last is not supported");
    TensorDesc output{input.type, input.dims, Layout::Plain};
    std::fill(output.dims.begin() + 2, output.dims.end(), 1);
    const std::size_t planes = static_cast<std::size_t>(input.dims[0] * input.dims[1]);
    const std::size_t each = planes == 0 ? 0 : input.count() / planes;
    const float factor = scaleAt(context, 1) / (scaleAt(context, 3) * static_cast<float>(each));
    return {{output},
            makeKernel([=, load = codeReader(input.type, context.node.op), zero = zeroAt(context, 2),
                        store = codeWriter(input.type, zeroAt(context, 4), context.node.op)](
                           const KernelArguments& a) {
                std::vector<std::int32_t> values(planes * each);
                load(a.inputs[0], values.size(), zero, values.data());
                for (std::size_t p = 0; p < planes; ++p) {
                    std::int32_t sum = 0;
                    for (std::size_t i = 0; i < each; ++i) sum += values[p * each + i];
                    store(static_cast<float>(sum) * factor, a.outputs[0], p);
                }
            })};
}

}  // namespace

void addQuantizedPointwise(OperatorTable& table) {
    table["com.microsoft.QLinearAdd"] = {compileAdd};
    table["com.microsoft.QLinearMul"] = {compileMul};
    table["com.microsoft.QLinearLeakyRelu"] = {compileLeakyRelu};
    table["com.microsoft.QLinearSigmoid"] = {compileCodedSigmoid};
    table["com.microsoft.QLinearSoftmax"] = {compileCodedSoftmax};
    table["com.microsoft.QLinearConcat"] = {compileQuantizedConcat};
    table["com.microsoft.QLinearGlobalAveragePool"] = {compileGlobalAveragePool};
    table["com.microsoft.QLinearAveragePool"] = {compileAveragePool};
}

}  // namespace quantloupe
