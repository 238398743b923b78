// SPDX-License-Identifier: Apache-2.0
// Conv. The weight must be constant: networks with computed weights are not quantized.
#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/channel_scale.h"
#include "runtime/ordered/ordered_product.h"

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
    const Constant& weight = context.needConstant(1, "the weight of a convolution");
    const std::size_t rank = input.dims.size();
    if (rank < 3 || rank > 5 || weight.dims().size() != rank)
        failInput("a convolution of an input {} with a weight {} is not possible", toString(input.dims),
                  toString(weight.dims()));
    const std::int64_t groups = context.node.attributes.integer("group", 1);
    if (groups < 1 || weight.dims()[1] * groups != input.dims[1] || weight.dims()[0] % groups != 0)
        failInput("the weight {} with {} group{} does not fit an input of {} channels",
                  toString(weight.dims()), groups, groups == 1 ? "" : "s", input.dims[1]);
    const Dims spatial(input.dims.begin() + 2, input.dims.end());
    const Dims kernel(weight.dims().begin() + 2, weight.dims().end());

    ConvolutionSpec spec;
    spec.input = input;
    spec.window = windowOf(context, spatial, kernel);
    if (spec.window.kernel != kernel)
        failInput("kernel_shape {} differs from the weight's {}", toString(spec.window.kernel),
                  toString(kernel));
    spec.output = {DataType::Float32, {input.dims[0], weight.dims()[0]}, Layout::ChannelsLast};
    spec.output.dims.insert(spec.output.dims.end(), spec.window.output.begin(), spec.window.output.end());
    spec.groups = groups;
    spec.weight = &weight;
    if (context.has(2)) {
        spec.bias = &context.needConstant(2, "the bias of a convolution");
        if (spec.bias->size() != weight.dims()[0])
            failInput("the bias has {} values for {} channels", spec.bias->size(), weight.dims()[0]);
    }
    const std::optional<ChannelScale> scale = fusedScale(context);
    if (scale) spec.scale = &*scale;
    spec.activation = context.activation;
    spec.swish = context.node.attributes.has(kSwish);
    return {{spec.output}, makeConvolution(spec)};
}

}  // namespace

void addConvolutions(OperatorTable& table) {
    table["Conv"] = {compileConv, LayoutPolicy::ChannelsLast, true};
}

}  // namespace quantloupe
