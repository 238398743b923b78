// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of ai.onnx and com.microsoft, for networks that
// are already quantized. Per tensor, along an axis, or in blocks.
#include <algorithm>

#include "runtime/integer/integer_types.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

/// Scales and zero points of elements. Along an axis, element i has number i / stride % count. In blocks, the
/// scales have the input's shape, but one value for each `block` elements of the axis.
struct Affine {
    std::vector<float> scales;
    std::vector<std::int32_t> zeroPoints;
    std::size_t stride = 1;
    std::size_t block = 0, extent = 1, blocks = 1;

    std::size_t channel(std::size_t i) const {
        if (scales.size() == 1) return 0;
        if (block == 0) return i / stride % scales.size();
        const std::size_t row = i / stride;
        return (row / extent * blocks + row % extent / block) * stride + i % stride;
    }
};

void addBlocks(const NodeContext& context, const Constant& scale, Affine& affine) {
    const TensorDesc& input = context.input(0);
    const std::int64_t block = context.node.attributes.integer("block_size", 0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 1), input.dims.size());
    Dims expected = input.dims;
    if (block > 0) expected[axis] = (input.dims[axis] + block - 1) / block;
    if (block < 1 || scale.dims() != expected)
        failInput("{} in blocks of {} has scales of {} for an input of {}", context.node.op, block,
                  toString(scale.dims()), toString(input.dims));
    if (input.layout != Layout::Plain)
        fail(ErrorKind::Unsupported, "{} of images in blocks is not supported", context.node.op);
    affine.block = static_cast<std::size_t>(block);
    affine.extent = static_cast<std::size_t>(input.dims[axis]);
    affine.blocks = static_cast<std::size_t>(expected[axis]);
    affine.stride = static_cast<std::size_t>(input.strides()[axis]);
}

Affine affineOf(const NodeContext& context) {
    const Constant& scale = context.needConstant(1, "the scale of " + context.node.op);
    Affine affine;
    affine.scales.assign(scale.floats().begin(), scale.floats().end());
    if (affine.scales.empty() && context.input(0).count() > 0)
        failInput("{} has no scales for an input of {}", context.node.op, toString(context.input(0).dims));
    affine.zeroPoints.assign(affine.scales.size(), 0);
    if (context.has(2)) {
        const std::vector<std::int64_t> zeros =
            context.needConstant(2, "the zero point of " + context.node.op).toInt64s();
        if (zeros.size() != affine.scales.size())
            failInput("{} has {} scales and {} zero points", context.node.op, affine.scales.size(),
                      zeros.size());
        for (std::size_t c = 0; c < zeros.size(); ++c)
            affine.zeroPoints[c] = static_cast<std::int32_t>(zeros[c]);
    }
    if (context.node.attributes.integer("block_size", 0) != 0) {
        addBlocks(context, scale, affine);
    } else if (affine.scales.size() > 1) {
        const TensorDesc& input = context.input(0);
        const std::size_t axis =
            normalizedAxis(context.node.attributes.integer("axis", 1), input.dims.size());
        if (input.dims[axis] != static_cast<std::int64_t>(affine.scales.size()))
            failInput("{} has {} scales for {} channels", context.node.op, affine.scales.size(),
                      input.dims[axis]);
        affine.stride = static_cast<std::size_t>(input.strides()[axis]);
    }
    return affine;
}

DataType quantizedType(const NodeContext& context) {
    if (context.has(2)) return context.input(2).type;
    const auto wanted = static_cast<DataType>(context.node.attributes.integer("output_dtype", 0));
    return wanted == DataType::Undefined ? DataType::UInt8 : wanted;
}

CompiledNode compileQuantize(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    const TensorDesc output{quantizedType(context), input.dims, input.layout};
    return withIntegerType(output.type, "QuantizeLinear", [&](auto zero) -> CompiledNode {
        using T = decltype(zero);
        // 4-bit integers are stored in bytes.
        const bool four = output.type == DataType::Int4 || output.type == DataType::UInt4;
        const T low = four ? (output.type == DataType::Int4 ? T(-8) : T(0)) : std::numeric_limits<T>::min();
        const T high = four ? (output.type == DataType::Int4 ? T(7) : T(15)) : std::numeric_limits<T>::max();
        return {{output},
                makeKernel(
                    [affine = affineOf(context), count = input.count(), low, high](const KernelArguments& a) {
                        const auto* x = static_cast<const float*>(a.inputs[0]);
                        auto* y = static_cast<T*>(a.outputs[0]);
                        for (std::size_t i = 0; i < count; ++i) {
                            const std::size_t c = affine.channel(i);
                            y[i] = std::clamp(saturated<T>(x[i] / affine.scales[c], affine.zeroPoints[c]),
                                              low, high);
                        }
                    })};
    });
}

CompiledNode compileDequantize(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const TensorDesc output{DataType::Float32, input.dims, input.layout};
    return withIntegerType(input.type, "DequantizeLinear", [&](auto zero) -> CompiledNode {
        using T = decltype(zero);
        return {{output},
                makeKernel([affine = affineOf(context), count = input.count()](const KernelArguments& a) {
                    const auto* x = static_cast<const T*>(a.inputs[0]);
                    auto* y = static_cast<float*>(a.outputs[0]);
                    for (std::size_t i = 0; i < count; ++i) {
                        const std::size_t c = affine.channel(i);
                        y[i] =
                            static_cast<float>(std::int64_t{x[i]} - affine.zeroPoints[c]) * affine.scales[c];
                    }
                })};
    });
}

/// uint8 with the range of the tensor itself, widened to include 0.
CompiledNode compileDynamicQuantize(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    return {{{DataType::UInt8, input.dims, input.layout},
             {DataType::Float32, {}, Layout::Plain},
             {DataType::UInt8, {}, Layout::Plain}},
            makeKernel([count = input.count()](const KernelArguments& a) {
                const auto* x = static_cast<const float*>(a.inputs[0]);
                float low = 0, high = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    low = std::min(low, x[i]);
                    high = std::max(high, x[i]);
                }
                const float scale = high == low ? 1.0f : (high - low) / 255.0f;
                const auto zeroPoint = saturated<std::uint8_t>((0 - low) / scale, 0);
                auto* y = static_cast<std::uint8_t*>(a.outputs[0]);
                for (std::size_t i = 0; i < count; ++i)
                    y[i] = saturated<std::uint8_t>(x[i] / scale, zeroPoint);
                if (a.outputs.size() > 1 && a.outputs[1] != nullptr)
                    *static_cast<float*>(a.outputs[1]) = scale;
                if (a.outputs.size() > 2 && a.outputs[2] != nullptr)
                    *static_cast<std::uint8_t*>(a.outputs[2]) = zeroPoint;
            })};
}

}  // namespace

void addQuantizers(OperatorTable& table) {
    for (const char* domain : {"", "com.microsoft."}) {
        table[std::string(domain) + "QuantizeLinear"] = {compileQuantize, LayoutPolicy::Any};
        table[std::string(domain) + "DequantizeLinear"] = {compileDequantize, LayoutPolicy::Any};
    }
    table["DynamicQuantizeLinear"] = {compileDynamicQuantize, LayoutPolicy::Any};
}

}  // namespace quantloupe
