// SPDX-License-Identifier: Apache-2.0
#include "runtime/ordered/channel_scale.h"

#include <cmath>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

QUANTLOUPE_SIMD void scaleAll(const float* __restrict in, const float* __restrict factor,
                              const float* __restrict offset, float* __restrict out, std::size_t pixels,
                              std::size_t channels, float low, float high) {
    for (std::size_t i = 0; i < pixels; ++i, in += channels, out += channels)
        for (std::size_t c = 0; c < channels; ++c) {
            const float x = in[c] * factor[c] + offset[c];
            const float bounded = x < low ? low : x;
            out[c] = bounded > high ? high : bounded;
        }
}

}  // namespace

ChannelScale batchNormScale(std::span<const float> scale, std::span<const float> bias,
                            std::span<const float> mean, std::span<const float> variance, float epsilon) {
    ChannelScale result;
    for (std::size_t c = 0; c < scale.size(); ++c) {
        result.factor.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
        result.offset.push_back(bias[c] - mean[c] * result.factor[c]);
    }
    return result;
}

void scaleChannels(const ChannelScale& scale, const float* in, float* out, std::size_t pixels,
                   const Activation& bounds) {
    scaleAll(in, scale.factor.data(), scale.offset.data(), out, pixels, scale.factor.size(), bounds.low,
             bounds.high);
}

}  // namespace quantloupe
