// SPDX-License-Identifier: Apache-2.0
// DeformConv on images: a convolution that reads its inputs at positions that are moved by computed offsets,
// and weighted by a computed mask (Deformable ConvNets v2, https://arxiv.org/abs/1811.11168).
#include <cmath>

#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/window.h"

namespace quantloupe {
namespace {

/// Linear interpolation between four pixels. Pixels outside the image are 0.
float interpolated(const float* image, std::int64_t rows, std::int64_t columns, float y, float x) {
    if (!(y > -1 && x > -1 && y < static_cast<float>(rows) && x < static_cast<float>(columns))) return 0;
    const float top = std::floor(y), left = std::floor(x);
    const auto row = static_cast<std::int64_t>(top), column = static_cast<std::int64_t>(left);
    const float down = y - top, right = x - left;
    const auto pixel = [&](std::int64_t r, std::int64_t c) {
        return r < 0 || c < 0 || r >= rows || c >= columns ? 0.0f : image[r * columns + c];
    };
    return (1 - down) * (1 - right) * pixel(row, column) + (1 - down) * right * pixel(row, column + 1) +
           down * (1 - right) * pixel(row + 1, column) + down * right * pixel(row + 1, column + 1);
}

/// Inputs: image, weight, offsets, bias, mask. The offsets are pairs of y and x for each tap of the kernel in
/// each offset group; a group of channels has the same offsets.
CompiledNode compileDeformConv(const NodeContext& context) {
    for (std::size_t i = 0; i < 5; ++i)
        if (context.has(i)) requireFloat(context, i);
    const Dims &image = context.input(0).dims, &weight = context.input(1).dims,
               &offsets = context.input(2).dims;
    if (image.size() != 4 || weight.size() != 4)
        fail(ErrorKind::Unsupported, "DeformConv of {} is not supported, only of images", toString(image));
    const Attributes& attributes = context.node.attributes;
    const std::int64_t groups = attributes.integer("group", 1),
                       offsetGroups = attributes.integer("offset_group", 1);
    const Window window = windowOf(context, {image[2], image[3]}, {weight[2], weight[3]});
    const std::int64_t taps = weight[2] * weight[3], rows = window.output[0], columns = window.output[1];
    if (window.kernel != Dims{weight[2], weight[3]} || weight[1] * groups != image[1] ||
        weight[0] % groups != 0 || image[1] % offsetGroups != 0 ||
        offsets != Dims{image[0], offsetGroups * taps * 2, rows, columns})
        failInput("DeformConv cannot combine {}, {} and offsets {}", toString(image), toString(weight),
                  toString(offsets));
    if (context.has(3) && context.input(3).dims != Dims{weight[0]})
        failInput("the bias {} of DeformConv does not fit {}", toString(context.input(3).dims),
                  toString(weight));
    if (context.has(4) && context.input(4).dims != Dims{image[0], offsetGroups * taps, rows, columns})
        failInput("the mask {} of DeformConv does not fit {}", toString(context.input(4).dims),
                  toString(offsets));
    const TensorDesc output{DataType::Float32, {image[0], weight[0], rows, columns}, Layout::Plain};
    return {
        {output},
        makeKernel([=, image = image, weight = weight, hasBias = context.has(3),
                    hasMask = context.has(4)](const KernelArguments& a) {
            const auto floats = [&](std::size_t i) { return static_cast<const float*>(a.inputs[i]); };
            const std::int64_t places = rows * columns, channels = weight[1],
                               perOffset = image[1] / offsetGroups;
            auto* out = static_cast<float*>(a.outputs[0]);
            std::vector<float> moved(static_cast<std::size_t>(image[1] * taps));  // the inputs of one place
            for (std::int64_t n = 0; n < image[0]; ++n)
                for (std::int64_t place = 0; place < places; ++place) {
                    for (std::int64_t c = 0; c < image[1]; ++c)
                        for (std::int64_t tap = 0; tap < taps; ++tap) {
                            const std::int64_t offset = (n * offsetGroups + c / perOffset) * taps + tap;
                            const float* by = floats(2) + offset * 2 * places + place;
                            const auto at = [&](std::size_t d, std::int64_t to, std::int64_t step) {
                                return static_cast<float>(to * window.strides[d] - window.padBegin[d] +
                                                          step * window.dilations[d]);
                            };
                            const float value =
                                interpolated(floats(0) + (n * image[1] + c) * image[2] * image[3], image[2],
                                             image[3], at(0, place / columns, tap / weight[3]) + by[0],
                                             at(1, place % columns, tap % weight[3]) + by[places]);
                            moved[static_cast<std::size_t>(c * taps + tap)] =
                                hasMask ? value * floats(4)[offset * places + place] : value;
                        }
                    for (std::int64_t o = 0; o < weight[0]; ++o) {
                        const float* factors = floats(1) + o * channels * taps;
                        const float* from = moved.data() + o / (weight[0] / groups) * channels * taps;
                        float sum = hasBias ? floats(3)[o] : 0.0f;
                        for (std::int64_t i = 0; i < channels * taps; ++i) sum += factors[i] * from[i];
                        out[(n * weight[0] + o) * places + place] = sum;
                    }
                }
        })};
}

}  // namespace

void addDeformableConvolutions(OperatorTable& table) { table["DeformConv"] = {compileDeformConv}; }

}  // namespace quantloupe
