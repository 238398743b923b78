// SPDX-License-Identifier: Apache-2.0
// Conv. Layers whose weight is computed are not quantized.
#include "base/error.h"
#include "runtime/operators/filters.h"
#include "runtime/ordered/channel_scale.h"

namespace quantloupe {
namespace {

/// The BatchNormalization after a convolution that fusions.h fused into it: inputs 3 to 6.
std::optional<ChannelScale> fusedScale(const NodeContext& context) {
    if (!context.has(3)) return std::nullopt;
    std::span<const float> values[4];
    for (std::size_t i = 0; i < 4; ++i)
        values[i] = context.needConstant(i + 3, "a parameter of the batch normalization").floats();
    return batchNormScale(values[0], values[1], values[2], values[3],
                          context.node.attributes.real("epsilon", 1e-5f));
}

CompiledNode compileConv(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    const Dims& weight = context.input(1).dims;
    const std::size_t rank = input.dims.size();
    if (rank < 3 || rank > 5 || weight.size() != rank)
        failInput("a convolution of an input {} with a weight {} is not possible", toString(input.dims),
                  toString(weight));
    const std::int64_t groups = context.node.attributes.integer("group", 1);
    if (groups < 1 || weight[1] * groups != input.dims[1] || weight[0] % groups != 0)
        failInput("the weight {} with {} group{} does not fit an input of {} channels", toString(weight),
                  groups, groups == 1 ? "" : "s", input.dims[1]);
    const Dims spatial(input.dims.begin() + 2, input.dims.end());
    const Dims kernel(weight.begin() + 2, weight.end());

    ConvolutionSpec spec;
    spec.input = input;
    spec.window = windowOf(context, spatial, kernel);
    if (spec.window.kernel != kernel)
        failInput("kernel_shape {} differs from the weight's {}", toString(spec.window.kernel),
                  toString(kernel));
    spec.output = {DataType::Float32, {input.dims[0], weight[0]}, Layout::ChannelsLast};
    spec.output.dims.insert(spec.output.dims.end(), spec.window.output.begin(), spec.window.output.end());
    spec.groups = groups;
    const std::optional<ChannelScale> scale = fusedScale(context);
    if (scale) spec.scale = &*scale;
    spec.activation = context.activation;
    spec.swish = context.node.attributes.has(kSwish);
    return {{spec.output}, makeWithFilters(context, spec, makeConvolution)};
}

}  // namespace

void addConvolutions(OperatorTable& table) {
    table["Conv"] = {compileConv, LayoutPolicy::ChannelsLast, true};
}

}  // namespace quantloupe
