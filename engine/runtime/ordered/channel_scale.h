// SPDX-License-Identifier: Apache-2.0
#pragma once
// BatchNormalization of a trained network: one factor and one offset per channel.

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/operators/kernel.h"

namespace quantloupe {

struct ChannelScale {
    std::vector<float> factor, offset;  ///< one per channel
};

ChannelScale batchNormScale(std::span<const float> scale, std::span<const float> bias,
                            std::span<const float> mean, std::span<const float> variance, float epsilon);

/// out = bounded(in * factor + offset) for pixels with adjacent channels; the product is rounded before the
/// sum. `out` must not overlap `in`.
void scaleChannels(const ChannelScale& scale, const float* in, float* out, std::size_t pixels,
                   const Activation& bounds);

}  // namespace quantloupe
