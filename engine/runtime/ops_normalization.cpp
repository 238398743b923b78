// SPDX-License-Identifier: Apache-2.0
// BatchNormalization (inference), LayerNormalization, Softmax.
#include <cmath>

#include "base/error.h"
#include "runtime/operators.h"

namespace quantloupe {
namespace {

CompiledNode compileBatchNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    if (desc.dims.size() < 2) failInput("BatchNormalization needs a batch and channels");
    if (context.node.attributes.integer("training_mode", 0) != 0)
        fail(ErrorKind::Unsupported, "BatchNormalization in training mode is not supported; export the model for inference");
    const auto channels = static_cast<std::size_t>(desc.dims[1]);
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    const char* names[] = {"scale", "bias", "mean", "variance"};
    std::span<const float> values[4];
    for (std::size_t i = 0; i < 4; ++i) {
        values[i] = context.needConstant(i + 1, fmt::format("the {} of a batch normalization", names[i])).floats();
        if (values[i].size() != channels)
            failInput("the {} has {} values for {} channels", names[i], values[i].size(), channels);
    }
    std::vector<float> factor(channels), offset(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        factor[c] = values[0][c] / std::sqrt(values[3][c] + epsilon);
        offset[c] = values[1][c] - values[2][c] * factor[c];
    }
    const auto batch = static_cast<std::size_t>(desc.dims[0]);
    const std::size_t spatial = batch * channels == 0 ? 0 : desc.count() / (batch * channels);
    const bool last = desc.layout == Layout::ChannelsLast;
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                if (last) {
                    for (std::size_t i = 0; i < batch * spatial; ++i, in += channels, out += channels)
                        for (std::size_t c = 0; c < channels; ++c) out[c] = in[c] * factor[c] + offset[c];
                    return;
                }
                for (std::size_t i = 0; i < batch * channels; ++i, in += spatial, out += spatial)
                    for (std::size_t s = 0; s < spatial; ++s)
                        out[s] = in[s] * factor[i % channels] + offset[i % channels];
            })};
}

CompiledNode compileLayerNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", -1), desc.dims.size());
    std::size_t rows = 1, width = 1;
    for (std::size_t d = 0; d < desc.dims.size(); ++d) (d < axis ? rows : width) *= static_cast<std::size_t>(desc.dims[d]);
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    TensorDesc statistics = desc;  // of the optional outputs: mean and 1 / deviation
    for (std::size_t d = axis; d < statistics.dims.size(); ++d) statistics.dims[d] = 1;
    const bool hasBias = context.has(2);
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
        if ((i == 1 || hasBias) && context.input(i).count() != width)
            failInput("LayerNormalization's scale and bias must have {} values", width);
    std::vector<TensorDesc> outputs(context.node.outputs.size(), statistics);
    outputs[0] = desc;
    return {outputs, makeKernel([=](const KernelArguments& a) {
                const auto optional = [&](std::size_t i) {
                    return i < a.outputs.size() ? static_cast<float*>(a.outputs[i]) : nullptr;
                };
                float* const means = optional(1);
                float* const factors = optional(2);
                const auto* in = static_cast<const float*>(a.inputs[0]);
                const auto* scale = static_cast<const float*>(a.inputs[1]);
                const auto* bias = hasBias ? static_cast<const float*>(a.inputs[2]) : nullptr;
                auto* out = static_cast<float*>(a.outputs[0]);
                for (std::size_t r = 0; r < rows; ++r, in += width, out += width) {
                    double sum = 0, squares = 0;
                    for (std::size_t i = 0; i < width; ++i) sum += in[i];
                    const double mean = sum / static_cast<double>(width);
                    for (std::size_t i = 0; i < width; ++i) squares += (in[i] - mean) * (in[i] - mean);
                    const auto factor =
                        static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(width) + epsilon));
                    if (means != nullptr) means[r] = static_cast<float>(mean);
                    if (factors != nullptr) factors[r] = factor;
                    for (std::size_t i = 0; i < width; ++i)
                        out[i] = (in[i] - static_cast<float>(mean)) * factor * scale[i] + (bias ? bias[i] : 0.0f);
                }
            })};
}

CompiledNode compileSoftmax(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const bool flattened = context.opset() < 13;  // then all dimensions from the axis on are one
    const std::size_t axis =
        normalizedAxis(context.node.attributes.integer("axis", flattened ? 1 : -1), desc.dims.size());
    std::size_t outer = 1, inner = 1;
    for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(desc.dims[d]);
    for (std::size_t d = axis + 1; d < desc.dims.size(); ++d) inner *= static_cast<std::size_t>(desc.dims[d]);
    auto width = static_cast<std::size_t>(desc.dims[axis]);
    if (flattened) width *= inner, inner = 1;
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                for (std::size_t o = 0; o < outer; ++o)
                    for (std::size_t i = 0; i < inner; ++i) {
                        const auto* in = static_cast<const float*>(a.inputs[0]) + o * width * inner + i;
                        auto* out = static_cast<float*>(a.outputs[0]) + o * width * inner + i;
                        float top = -std::numeric_limits<float>::infinity();
                        for (std::size_t k = 0; k < width; ++k) top = std::max(top, in[k * inner]);
                        float sum = 0;
                        for (std::size_t k = 0; k < width; ++k) sum += out[k * inner] = std::exp(in[k * inner] - top);
                        for (std::size_t k = 0; k < width; ++k) out[k * inner] /= sum;
                    }
            })};
}

}  // namespace

void addNormalizations(OperatorTable& table) {
    table["BatchNormalization"] = {compileBatchNorm, LayoutPolicy::Any, false};
    table["LayerNormalization"] = {compileLayerNorm, LayoutPolicy::Plain, false};
    table["Softmax"] = {compileSoftmax, LayoutPolicy::Plain, false};
}

}  // namespace quantloupe
