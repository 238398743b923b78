// SPDX-License-Identifier: Apache-2.0
// ConvTranspose. Layers whose weight is computed are not quantized.
#include "base/error.h"
#include "runtime/operators/filters.h"

namespace quantloupe {
namespace {

CompiledNode compileConvTranspose(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    const Dims& weight = context.input(1).dims;
    const Attributes& attributes = context.node.attributes;
    const std::size_t rank = input.dims.size();
    const std::int64_t groups = attributes.integer("group", 1);
    if (rank < 3 || rank > 5 || weight.size() != rank || groups < 1 || weight[0] != input.dims[1] ||
        weight[0] % groups != 0)
        failInput("a transposed convolution of an input {} with a weight {} in {} groups is not possible",
                  toString(input.dims), toString(weight), groups);
    const std::size_t spatial = rank - 2;
    ConvolutionSpec spec;
    Window& w = spec.window;
    w.kernel.assign(weight.begin() + 2, weight.end());
    w.strides = attributes.integers("strides", Dims(spatial, 1));
    w.dilations = attributes.integers("dilations", Dims(spatial, 1));
    const Dims pads = attributes.integers("pads", Dims(2 * spatial, 0));
    const Dims extra = attributes.integers("output_padding", Dims(spatial, 0));
    const Dims shape = attributes.integers("output_shape");
    const std::string autoPad = attributes.text("auto_pad", "NOTSET");
    if (w.strides.size() != spatial || w.dilations.size() != spatial || pads.size() != 2 * spatial ||
        extra.size() != spatial || (!shape.empty() && shape.size() < spatial))
        failInput("strides, dilations, pads, output_padding or output_shape do not fit {} spatial dimensions",
                  spatial);
    for (std::size_t d = 0; d < spatial; ++d) {
        if (w.strides[d] < 1 || w.dilations[d] < 1) failInput("strides and dilations must be positive");
        const std::int64_t reach =
            w.strides[d] * (input.dims[d + 2] - 1) + w.dilations[d] * (w.kernel[d] - 1) + 1 + extra[d];
        std::int64_t begin = pads[d], end = pads[spatial + d];
        if (!shape.empty() || autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
            const std::int64_t wanted =
                shape.empty() ? input.dims[d + 2] * w.strides[d] : shape[shape.size() - spatial + d];
            const std::int64_t total = std::max<std::int64_t>(0, reach - wanted);
            begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
            end = total - begin;
            // Output beyond the reach of the kernel is only the bias.
            if (reach < wanted) end = reach - wanted;
        } else if (autoPad == "VALID") {
            begin = end = 0;
        }
        w.padBegin.push_back(begin);
        w.padEnd.push_back(end - extra[d]);  // as if there were less padding
        w.output.push_back(reach - begin - end);
        if (w.output.back() < 1) failInput("the padding {} and {} leave no output", begin, end);
    }
    spec.input = input;
    spec.output = {DataType::Float32, {input.dims[0], weight[1] * groups}, Layout::ChannelsLast};
    spec.output.dims.insert(spec.output.dims.end(), w.output.begin(), w.output.end());
    spec.groups = groups;
    spec.activation = context.activation;
    return {{spec.output}, makeWithFilters(context, spec, makeTransposedConvolution)};
}

}  // namespace

void addTransposedConvolutions(OperatorTable& table) {
    table["ConvTranspose"] = {compileConvTranspose, LayoutPolicy::ChannelsLast, true};
}

}  // namespace quantloupe
