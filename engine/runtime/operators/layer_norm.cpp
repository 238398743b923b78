// SPDX-License-Identifier: Apache-2.0
// Normalizations over values of the same sample: LayerNormalization, InstanceNormalization,
// GroupNormalization, and LayerNormalization composed of simpler operators.
#include <cmath>
#include <span>

#include "base/error.h"
#include "runtime/operators/broadcast_loops.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_rows.h"
#include "runtime/row_math.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// Mean and 1 / deviation of a row.
struct Moments {
    float mean, factor;
};

QUANTLOUPE_SIMD Moments momentsOf(const float* in, std::size_t width, float epsilon) {
    const float count = static_cast<float>(width);
    const float mean = sumOf(width, [in](std::size_t i) { return in[i]; }) / count;
    const float squares = sumOf(width, [in, mean](std::size_t i) { return (in[i] - mean) * (in[i] - mean); });
    return {mean, 1.0f / std::sqrt(squares / count + epsilon)};
}

QUANTLOUPE_SIMD void normalizeRow(const float* in, Moments moments, const float* scale, const float* bias,
                                  float* out, std::size_t width) {
    if (bias != nullptr)
        for (std::size_t i = 0; i < width; ++i)
            out[i] = (in[i] - moments.mean) * moments.factor * scale[i] + bias[i];
    else
        for (std::size_t i = 0; i < width; ++i) out[i] = (in[i] - moments.mean) * moments.factor * scale[i];
}

QUANTLOUPE_SIMD void scaleAndShift(const float* in, float factor, float offset, float* out,
                                   std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) out[i] = in[i] * factor + offset;
}

/// The dimensions from `axis` on are normalized together.
struct Rows {
    std::size_t axis, rows = 1, width = 1;
};

Rows rowsOf(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    Rows result{normalizedAxis(context.node.attributes.integer("axis", -1), dims.size())};
    for (std::size_t d = 0; d < dims.size(); ++d)
        (d < result.axis ? result.rows : result.width) *= static_cast<std::size_t>(dims[d]);
    return result;
}

/// Returns a constant scale or bias with one value for each element of a row, repeated where it is broadcast.
/// Empty if the input has these values itself.
std::vector<float> repeatedRow(const NodeContext& context, std::size_t input, std::size_t axis) {
    requireFloat(context, input);
    const TensorDesc& given = context.input(input);
    const Dims& dims = context.input(0).dims;
    const TensorDesc row{DataType::Float32,
                         Dims(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end())};
    TensorDesc operand = given;
    while (operand.dims.size() > row.dims.size() && operand.dims.front() == 1)
        operand.dims.erase(operand.dims.begin());
    if (operand.dims == row.dims) return {};
    if (context.constant(input) == nullptr || operand.dims.size() > row.dims.size() ||
        broadcastDims(operand.dims, row.dims) != row.dims)
        fail(ErrorKind::Unsupported, "{} with a scale or bias of {} for rows of {} is not supported",
             context.node.op, toString(given.dims), toString(row.dims));
    const auto values = context.constant(input)->floats();
    std::vector<float> repeated(row.count());
    const StridedLoops loops = broadcastLoops(row, std::span(&operand, 1));
    loops.forEachRow([&](const std::ptrdiff_t* offsets) {
        for (std::size_t i = 0; i < loops.inner(); ++i)
            repeated[static_cast<std::size_t>(offsets[0]) + i] = values[static_cast<std::size_t>(
                offsets[1] + static_cast<std::ptrdiff_t>(i) * loops.innerStep(1))];
    });
    return repeated;
}

/// Returns the values of repeatedRow(), or of the input if there are none.
const float* rowValues(const std::vector<float>& repeated, const void* input) {
    return repeated.empty() ? static_cast<const float*>(input) : repeated.data();
}

CompiledNode compileLayerNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const Rows shape = rowsOf(context);
    const std::size_t rows = shape.rows, width = shape.width;
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    TensorDesc statistics = desc;  // for the optional outputs: mean and 1 / deviation
    for (std::size_t d = shape.axis; d < statistics.dims.size(); ++d) statistics.dims[d] = 1;
    const bool hasBias = context.has(2);
    std::vector<float> scales = repeatedRow(context, 1, shape.axis), biases;
    if (hasBias) biases = repeatedRow(context, 2, shape.axis);
    std::vector<TensorDesc> outputs(context.node.outputs.size(), statistics);
    outputs[0] = desc;
    return {outputs, makeKernel([=](const KernelArguments& a) {
                const auto optional = [&](std::size_t i) {
                    return i < a.outputs.size() ? static_cast<float*>(a.outputs[i]) : nullptr;
                };
                float* const means = optional(1);
                float* const factors = optional(2);
                const auto* in = static_cast<const float*>(a.inputs[0]);
                const float* const scale = rowValues(scales, a.inputs[1]);
                const float* const bias = hasBias ? rowValues(biases, a.inputs[2]) : nullptr;
                auto* out = static_cast<float*>(a.outputs[0]);
                if (means == nullptr && factors == nullptr)
                    return orderedLayerNorm(in, scale, bias, epsilon, out, rows, width);
                for (std::size_t r = 0; r < rows; ++r, in += width, out += width) {
                    const Moments moments = momentsOf(in, width, epsilon);
                    if (means != nullptr) means[r] = moments.mean;
                    if (factors != nullptr) factors[r] = moments.factor;
                    normalizeRow(in, moments, scale, bias, out, width);
                }
            })};
}

/// x / sqrt(mean(x²) + epsilon) * scale over the dimensions from `axis` on.
QUANTLOUPE_SIMD void rmsNormalizeRow(const float* in, const float* scale, float epsilon, float* out,
                                     std::size_t width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i)
        squares += static_cast<double>(in[i]) * static_cast<double>(in[i]);
    const auto mean = static_cast<float>(squares / static_cast<double>(width));
    const float factor = 1.0f / std::sqrt(mean + epsilon);
    for (std::size_t i = 0; i < width; ++i) out[i] = in[i] * factor * scale[i];
}

CompiledNode compileRmsNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const Rows shape = rowsOf(context);
    const std::size_t rows = shape.rows, width = shape.width;
    const std::vector<float> scales = repeatedRow(context, 1, shape.axis);
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                for (std::size_t r = 0; r < rows; ++r)
                    rmsNormalizeRow(static_cast<const float*>(a.inputs[0]) + r * width,
                                    rowValues(scales, a.inputs[1]), epsilon,
                                    static_cast<float*>(a.outputs[0]) + r * width, width);
            })};
}

/// Normalizes each group of channels of each sample separately. Scale and bias have one value per channel or,
/// in the first version of GroupNormalization, per group.
CompiledNode compileGroups(const NodeContext& context, std::size_t groups) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    if (desc.dims.size() < 2) failInput("{} needs a batch and channels", context.node.op);
    const auto channels = static_cast<std::size_t>(desc.dims[1]);
    if (groups == 0 || channels % groups != 0)
        failInput("{} channels cannot be split into {} groups", channels, groups);
    const auto scale = context.needConstant(1, "the scale of a normalization").floats();
    const auto bias = context.needConstant(2, "the bias of a normalization").floats();
    if (scale.size() != bias.size() || (scale.size() != channels && scale.size() != groups))
        failInput("the scale and bias of {} have {} and {} values for {} channels", context.node.op,
                  scale.size(), bias.size(), channels);
    const std::size_t each = channels / groups, perValue = scale.empty() ? 1 : channels / scale.size();
    const auto batch = static_cast<std::size_t>(desc.dims[0]);
    const std::size_t spatial = batch * channels == 0 ? 0 : desc.count() / (batch * channels);
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    return {{desc},
            makeKernel([=, scales = std::vector<float>(scale.begin(), scale.end()),
                        biases = std::vector<float>(bias.begin(), bias.end())](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                for (std::size_t g = 0; g < batch * groups; ++g) {
                    const Moments moments = momentsOf(in, each * spatial, epsilon);
                    for (std::size_t c = 0; c < each; ++c, in += spatial, out += spatial) {
                        const std::size_t value = (g % groups * each + c) / perValue;
                        const float factor = moments.factor * scales[value];
                        scaleAndShift(in, factor, biases[value] - moments.mean * factor, out, spatial);
                    }
                }
            })};
}

/// Width of the row and epsilon come from the nodes; every step rounds as theirs do, so the result is the
/// same.
QUANTLOUPE_SIMD void composedLayerNormRow(const float* in, float mean, float deviation, const float* scale,
                                          const float* bias, float* out, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) out[i] = (in[i] - mean) / deviation * scale[i] + bias[i];
}

CompiledNode compileWrittenOut(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    if (desc.dims.empty()) failInput("a normalization needs an axis");
    const auto width = static_cast<std::size_t>(desc.dims.back());
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
        if (context.input(i).count() != width)
            failInput("the scale and bias of a normalization must have {} values", width);
    const std::size_t rows = width == 0 ? 0 : desc.count() / width;
    const float epsilon = context.node.attributes.real("epsilon", 0.0f);
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                for (std::size_t r = 0; r < rows; ++r, in += width, out += width) {
                    double sum = 0, squares = 0;
                    for (std::size_t i = 0; i < width; ++i) sum += static_cast<double>(in[i]);
                    const auto mean = static_cast<float>(sum / static_cast<double>(width));
                    for (std::size_t i = 0; i < width; ++i) {
                        const float distance = in[i] - mean;
                        squares += static_cast<double>(distance * distance);
                    }
                    const float variance = static_cast<float>(squares / static_cast<double>(width));
                    composedLayerNormRow(in, mean, std::sqrt(variance + epsilon),
                                         static_cast<const float*>(a.inputs[1]),
                                         static_cast<const float*>(a.inputs[2]), out, width);
                }
            })};
}

}  // namespace

void addLayerNormalizations(OperatorTable& table) {
    const auto plain = LayoutPolicy::Plain;
    table["LayerNormalization"] = {compileLayerNorm, plain, false};
    table["RMSNormalization"] = {compileRmsNorm, plain, false};
    table["SimplifiedLayerNormalization"] = {compileRmsNorm, plain,
                                             false};  // ONNX Runtime's name, before opset 23
    table["InstanceNormalization"] = {
        [](const NodeContext& context) {
            const Dims& dims = context.input(0).dims;
            return compileGroups(context, dims.size() < 2 ? 0 : static_cast<std::size_t>(dims[1]));
        },
        plain, false};
    table["GroupNormalization"] = {
        [](const NodeContext& context) {
            const std::int64_t groups = context.node.attributes.integer("num_groups", 0);
            return compileGroups(context, static_cast<std::size_t>(std::max<std::int64_t>(groups, 0)));
        },
        plain, false};
    table[kFusedLayerNorm] = {compileWrittenOut, plain, false};
}

}  // namespace quantloupe
