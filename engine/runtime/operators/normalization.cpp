// SPDX-License-Identifier: Apache-2.0
// BatchNormalization, LRN, MeanVarianceNormalization, LpNormalization.
#include <cmath>

#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"
#include "runtime/ordered/channel_scale.h"

namespace quantloupe {
namespace {

/// Uses the mean and variance of the current batch (opset 14), as in exported weight standardization. Outputs
/// 1 and 2 are the running mean and variance.
CompiledNode compileTrainingNorm(const NodeContext& context) {
    const TensorDesc desc = context.input(0);
    const auto channels = static_cast<std::size_t>(desc.dims[1]);
    for (std::size_t i = 1; i < 5; ++i) {
        requireFloat(context, i);
        if (context.input(i).count() != channels)
            failInput("BatchNormalization has {} channels, but its input {} has {} values", channels, i,
                      context.input(i).count());
    }
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f),
                momentum = context.node.attributes.real("momentum", 0.9f);
    const auto batch = static_cast<std::size_t>(desc.dims[0]);
    const std::size_t spatial = batch * channels == 0 ? 0 : desc.count() / (batch * channels);
    const std::ptrdiff_t step = desc.layout == Layout::ChannelsLast ? desc.dims[1] : 1;
    const auto channelStep = static_cast<std::size_t>(desc.strides()[1]);
    const TensorDesc perChannel{DataType::Float32, {desc.dims[1]}, Layout::Plain};
    const Activation bounds = context.activation != nullptr ? *context.activation : Activation();
    return {{desc, perChannel, perChannel}, makeKernel([=](const KernelArguments& a) {
                const auto floats = [&](std::size_t i) { return static_cast<const float*>(a.inputs[i]); };
                for (std::size_t c = 0; c < channels; ++c) {
                    const auto each = [&](auto use) {
                        for (std::size_t n = 0; n < batch; ++n)
                            for (std::size_t s = 0; s < spatial; ++s)
                                use(n * channels * spatial + c * channelStep +
                                    s * static_cast<std::size_t>(step));
                    };
                    double sum = 0, squares = 0;
                    each([&](std::size_t at) { sum += static_cast<double>(floats(0)[at]); });
                    const double mean = sum / static_cast<double>(batch * spatial);
                    each([&](std::size_t at) {
                        const double distance = static_cast<double>(floats(0)[at]) - mean;
                        squares += distance * distance;
                    });
                    const double variance = squares / static_cast<double>(batch * spatial);
                    const float factor = floats(1)[c] / std::sqrt(static_cast<float>(variance) + epsilon);
                    each([&](std::size_t at) {
                        const float x = (floats(0)[at] - static_cast<float>(mean)) * factor + floats(2)[c];
                        static_cast<float*>(a.outputs[0])[at] = bounds(x);
                    });
                    const auto running = [&](std::size_t output, std::size_t input, double now) {
                        if (a.outputs.size() > output && a.outputs[output] != nullptr)
                            static_cast<float*>(a.outputs[output])[c] =
                                floats(input)[c] * momentum + static_cast<float>(now) * (1 - momentum);
                    };
                    running(1, 3, mean);
                    running(2, 4, variance);
                }
            })};
}

CompiledNode compileBatchNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    if (desc.dims.size() < 2) failInput("BatchNormalization needs a batch and channels");
    if (context.node.attributes.integer("training_mode", 0) != 0) return compileTrainingNorm(context);
    const auto channels = static_cast<std::size_t>(desc.dims[1]);
    const float epsilon = context.node.attributes.real("epsilon", 1e-5f);
    const char* names[] = {"scale", "bias", "mean", "variance"};
    std::span<const float> values[4];
    for (std::size_t i = 0; i < 4; ++i) {
        values[i] =
            context.needConstant(i + 1, fmt::format("the {} of a batch normalization", names[i])).floats();
        if (values[i].size() != channels)
            failInput("the {} has {} values for {} channels", names[i], values[i].size(), channels);
    }
    const ChannelScale scale = batchNormScale(values[0], values[1], values[2], values[3], epsilon);
    const auto batch = static_cast<std::size_t>(desc.dims[0]);
    const std::size_t spatial = batch * channels == 0 ? 0 : desc.count() / (batch * channels);
    const bool last = desc.layout == Layout::ChannelsLast;
    const Activation bounds = context.activation != nullptr ? *context.activation : Activation();
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                if (last) return scaleChannels(scale, in, out, batch * spatial, bounds);
                for (std::size_t i = 0; i < batch * channels; ++i, in += spatial, out += spatial) {
                    const float factor = scale.factor[i % channels], offset = scale.offset[i % channels];
                    for (std::size_t s = 0; s < spatial; ++s) out[s] = bounds(in[s] * factor + offset);
                }
            })};
}

/// Across adjacent channels. Channels last: a window slides over each pixel's row.
CompiledNode compileLrn(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const Attributes& attributes = context.node.attributes;
    const std::int64_t size = attributes.integer("size", 0);
    if (desc.dims.size() < 2 || size < 1) failInput("LRN needs channels and a positive size");
    const float alpha = attributes.real("alpha", 1e-4f) / static_cast<float>(size);
    const float beta = attributes.real("beta", 0.75f), bias = attributes.real("bias", 1.0f);
    const std::int64_t channels = desc.dims[1], before = (size - 1) / 2, after = size - 1 - before;
    const std::ptrdiff_t step = desc.strides()[1];
    const auto outer = static_cast<std::ptrdiff_t>(desc.dims[0]);
    const std::ptrdiff_t each = outer == 0 ? 0 : static_cast<std::ptrdiff_t>(desc.count()) / outer;
    const std::ptrdiff_t pixels = channels == 0 ? 0 : each / channels, pixelStep = step == 1 ? channels : 1;
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                for (std::ptrdiff_t n = 0; n < outer; ++n)
                    for (std::ptrdiff_t p = 0; p < pixels; ++p) {
                        const auto* in = static_cast<const float*>(a.inputs[0]) + n * each + p * pixelStep;
                        auto* out = static_cast<float*>(a.outputs[0]) + n * each + p * pixelStep;
                        for (std::int64_t c = 0; c < channels; ++c) {
                            float sum = 0;
                            for (std::int64_t k = std::max<std::int64_t>(0, c - before);
                                 k <= std::min(channels - 1, c + after); ++k)
                                sum += in[k * step] * in[k * step];
                            out[c * step] = in[c * step] / std::pow(bias + alpha * sum, beta);
                        }
                    }
            })};
}

/// (x - mean) / (standard deviation + 1e-9) over some axes.
CompiledNode compileMeanVariance(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const std::size_t rank = desc.dims.size();
    std::vector<bool> reduced(rank, false);
    for (const std::int64_t axis : context.node.attributes.integers("axes", {0, 2, 3}))
        reduced[normalizedAxis(axis, rank)] = true;
    StridedLoops::Steps steps(rank, 0);
    std::size_t groups = 1;
    for (std::size_t d = rank; d-- > 0;) {
        if (reduced[d]) continue;
        steps[d] = static_cast<std::ptrdiff_t>(groups);
        groups *= static_cast<std::size_t>(desc.dims[d]);
    }
    const StridedLoops loops(extentsInMemoryOrder(desc),
                             {inMemoryOrder(desc, desc.strides()), inMemoryOrder(desc, steps)});
    const double count = groups == 0 ? 0 : static_cast<double>(desc.count()) / static_cast<double>(groups);
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                const auto each = [&](auto use) {
                    loops.forEachRow([&](const std::ptrdiff_t* at) {
                        for (std::size_t i = 0; i < loops.inner(); ++i) {
                            const auto step = static_cast<std::ptrdiff_t>(i);
                            use(at[0] + step * loops.innerStep(0),
                                static_cast<std::size_t>(at[1] + step * loops.innerStep(1)));
                        }
                    });
                };
                std::vector<double> mean(groups, 0.0), deviation(groups, 0.0);
                each([&](std::ptrdiff_t x, std::size_t g) { mean[g] += static_cast<double>(in[x]) / count; });
                each([&](std::ptrdiff_t x, std::size_t g) {
                    const double distance = static_cast<double>(in[x]) - mean[g];
                    deviation[g] += distance * distance / count;
                });
                for (double& value : deviation) value = std::sqrt(value) + 1e-9;
                each([&](std::ptrdiff_t x, std::size_t g) {
                    out[x] = static_cast<float>((static_cast<double>(in[x]) - mean[g]) / deviation[g]);
                });
            })};
}

/// Divides by the sum of the absolute values along an axis, or by the root of the sum of squares. If that is
/// 0, the result is 0, as in ONNX Runtime.
CompiledNode compileLpNorm(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", -1), desc.dims.size());
    const std::int64_t p = context.node.attributes.integer("p", 2);
    if (p != 1 && p != 2) failInput("LpNormalization has no norm of order {}", p);
    const auto extent = static_cast<std::size_t>(desc.dims[axis]),
               inner = static_cast<std::size_t>(desc.strides()[axis]);
    const std::size_t lines = extent == 0 ? 0 : desc.count() / extent;
    return {{desc}, makeKernel([=](const KernelArguments& a) {
                for (std::size_t line = 0; line < lines; ++line) {
                    const std::size_t start = line / inner * extent * inner + line % inner;
                    const float* in = static_cast<const float*>(a.inputs[0]) + start;
                    float* out = static_cast<float*>(a.outputs[0]) + start;
                    double sum = 0;
                    for (std::size_t k = 0; k < extent; ++k) {
                        const double x = static_cast<double>(in[k * inner]);
                        sum += p == 1 ? std::fabs(x) : x * x;
                    }
                    const auto norm = static_cast<float>(p == 1 ? sum : std::sqrt(sum));
                    for (std::size_t k = 0; k < extent; ++k)
                        out[k * inner] = norm == 0 ? 0.0f : in[k * inner] / norm;
                }
            })};
}

}  // namespace

void addNormalizations(OperatorTable& table) {
    table["BatchNormalization"] = {compileBatchNorm, LayoutPolicy::Any, true};
    table["LRN"] = {compileLrn, LayoutPolicy::Any};
    table["LpNormalization"] = {compileLpNorm};
    table["MeanVarianceNormalization"] = {compileMeanVariance, LayoutPolicy::Any};
}

}  // namespace quantloupe
