// SPDX-License-Identifier: Apache-2.0
#pragma once
// Magnitudes of every layer's values by power of two, together with the range that its quantizers can
// represent: values below half a step become 0, values outside the limits are clipped.

#include <array>
#include <cstdint>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// Counts of magnitudes: bin e covers [2^(kLeastPower + e), 2^(kLeastPower + e + 1)); the first and last bin
/// also count everything below and above.
inline constexpr int kLeastPower = -20;
inline constexpr std::size_t kPowers = 32;  ///< up to 2^12
using PowerHistogram = std::array<std::uint64_t, kPowers>;

/// Adds values to the histogram. Zeros, NaN and infinities are not counted.
void addPowers(const float* values, std::size_t count, PowerHistogram& histogram);

struct RangeStrip {
    double step = 0;           ///< of the quantizer; per channel: the finest one
    double low = 0, high = 0;  ///< representable range; per channel: the widest one
};

struct LayerRanges {
    NodeId node;  ///< in the source graph
    std::optional<RangeStrip> weight;
    PowerHistogram weights{};             ///< after the transforms
    RangeStrip output;                    ///< of the layer's output; of its input if outputs stay in float
    double outputMin = 0, outputMax = 0;  ///< over the calibration samples
};

/// Returns the ranges of all quantizable layers, in graph order; those of skipped layers are as if quantized.
/// Needs calibration data. Throws Error, Cancelled.
std::vector<LayerRanges> rangeOverview(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel = {});

}  // namespace quantloupe
