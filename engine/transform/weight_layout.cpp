// SPDX-License-Identifier: Apache-2.0
#include "transform/weight_layout.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/operator_traits.h"

namespace quantloupe {

std::optional<WeightLayout> weightLayout(const Node& node, const Dims& dims) {
    WeightLayout layout;
    layout.dims = dims;
    if (isOp(node, "Gemm") || isOp(node, "MatMul")) {
        if (dims.size() != 2) return {};
        if (node.attributes.integer("transB", 0) == 0) std::swap(layout.outputAxis, layout.inputAxis);
        return layout;
    }
    if (!isConvolution(node) || dims.size() < 3) return {};
    layout.groups = node.attributes.integer("group", 1);
    if (layout.groups < 1 || dims[0] % layout.groups != 0) return {};
    layout.depthwise = layout.groups > 1 && dims[0] == layout.groups && dims[1] == 1;
    if (layout.depthwise) {
        layout.inputAxis = 0;
    } else if (node.op == "ConvTranspose") {
        std::swap(layout.outputAxis, layout.inputAxis);
    }
    return layout;
}

void scaleAlong(std::span<float> weight, const Dims& dims, std::size_t axis, std::span<const float> factors) {
    const AxisExtents split = axisExtents(dims, axis);
    float* at = weight.data();
    for (std::size_t o = 0; o < split.outer; ++o) {
        if (split.inner == 1) {  // adjacent values belong to different channels: vectorize over channels
            for (std::size_t c = 0; c < split.extent; ++c) at[c] *= factors[c];
            at += split.extent;
            continue;
        }
        for (std::size_t c = 0; c < split.extent; ++c)
            for (std::size_t i = 0; i < split.inner; ++i) *at++ *= factors[c];
    }
}

std::vector<float> maxAbsAlong(std::span<const float> weight, const Dims& dims, std::size_t axis) {
    // Without the sign bit, the bits of a float order like its value, with NaN the largest: integers compare
    // faster.
    const auto bits = [](float value) { return std::bit_cast<std::int32_t>(value) & 0x7fffffff; };
    const AxisExtents split = axisExtents(dims, axis);
    std::vector<std::int32_t> largest(split.extent, 0);
    const float* at = weight.data();
    for (std::size_t o = 0; o < split.outer; ++o) {
        if (split.inner == 1) {
            for (std::size_t c = 0; c < split.extent; ++c) largest[c] = std::max(largest[c], bits(at[c]));
            at += split.extent;
            continue;
        }
        for (std::size_t c = 0; c < split.extent; ++c) {
            std::int32_t most = largest[c];
            for (std::size_t i = 0; i < split.inner; ++i) most = std::max(most, bits(at[i]));
            largest[c] = most;
            at += split.inner;
        }
    }
    std::vector<float> result(split.extent);
    for (std::size_t c = 0; c < result.size(); ++c) result[c] = std::bit_cast<float>(largest[c]);
    return result;
}

namespace {

/// Returns the largest |w| along axis 1 of a grouped layer's weight, whose axis 0 determines the group:
/// [groups * dims[1]].
std::vector<float> maxAbsInGroups(std::span<const float> weight, const WeightLayout& layout) {
    const auto groups = static_cast<std::size_t>(layout.groups);
    const auto perGroup = static_cast<std::size_t>(layout.dims[1]);
    Dims dims = layout.dims;
    dims[0] /= layout.groups;
    std::vector<float> ranges;
    ranges.reserve(groups * perGroup);
    for (std::size_t g = 0; g < groups; ++g) {
        const auto part = weight.subspan(g * weight.size() / groups, weight.size() / groups);
        const auto largest = maxAbsAlong(part, dims, 1);
        ranges.insert(ranges.end(), largest.begin(), largest.end());
    }
    return ranges;
}

std::vector<float> rangesAlong(std::span<const float> weight, const WeightLayout& layout, std::size_t axis) {
    return layout.groups > 1 && axis == 1 ? maxAbsInGroups(weight, layout)
                                          : maxAbsAlong(weight, layout.dims, axis);
}

}  // namespace

std::vector<float> outputRanges(std::span<const float> weight, const WeightLayout& layout) {
    return rangesAlong(weight, layout, layout.outputAxis);
}

std::vector<float> inputRanges(std::span<const float> weight, const WeightLayout& layout) {
    return rangesAlong(weight, layout, layout.inputAxis);
}

std::vector<float> kernelSums(std::span<const float> weight, const Dims& dims) {
    std::vector<float> sums(weight.begin(), weight.end());
    for (std::size_t axis = dims.size(); axis-- > 2;) {
        const auto extent = static_cast<std::size_t>(dims[axis]);
        std::vector<float> next(extent == 0 ? 0 : sums.size() / extent, 0.0f);
        for (std::size_t i = 0; i < next.size(); ++i)
            for (std::size_t k = 0; k < extent; ++k) next[i] += sums[i * extent + k];
        sums = std::move(next);
    }
    return sums;
}

}  // namespace quantloupe
