// SPDX-License-Identifier: Apache-2.0
#pragma once
// The meaning of the axes of a layer's weight, and loops over such an axis that the transforms share.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/operator_traits.h"

namespace quantloupe {

/// The axes of the weights of Conv [out, in/group, k...], ConvTranspose [in, out/group, k...], MatMul [in,
/// out], and Gemm ([out, in] with transB=1, otherwise [in, out]).
struct WeightLayout {
    Dims dims;
    std::int64_t groups = 1;
    /// One input and one output channel per group; both axes are 0 in this case.
    bool depthwise = false;
    std::size_t outputAxis = 0;
    /// Covers all input channels only if groups is 1 or the layer is depthwise.
    std::size_t inputAxis = 1;

    std::int64_t outputs() const { return dims[outputAxis]; }
    std::int64_t inputs() const { return dims[inputAxis]; }
};

/// The layout of a Conv, ConvTranspose, MatMul or Gemm whose weight has these extents; empty for other
/// operators or for extents that such a layer cannot have.
std::optional<WeightLayout> weightLayout(const Node& node, const Dims& dims);

/// w[..., c, ...] *= factors[c] along the axis.
void scaleAlong(std::span<float> weight, const Dims& dims, std::size_t axis, std::span<const float> factors);
/// The largest |w| of each channel along the axis; NaN if a weight is NaN.
std::vector<float> maxAbsAlong(std::span<const float> weight, const Dims& dims, std::size_t axis);
/// The largest |w| of each output or input channel, over all groups.
std::vector<float> outputRanges(std::span<const float> weight, const WeightLayout& layout);
std::vector<float> inputRanges(std::span<const float> weight, const WeightLayout& layout);
/// Sums over the kernel positions: [dims[0] * dims[1]]. Adds in float32, innermost axis first, as NumPy does.
std::vector<float> kernelSums(std::span<const float> weight, const Dims& dims);

}  // namespace quantloupe
