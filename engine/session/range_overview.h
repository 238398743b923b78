// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every layer's numbers by their power of two, and what its quantizers can represent of them: below half a step a value becomes 0,
// beyond the limits it is clipped.

#include <array>
#include <cstdint>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// Magnitudes by power of two: bin e holds [2^(kLeastPower + e), 2^(kLeastPower + e + 1)), the ends also what lies beyond them.
inline constexpr int kLeastPower = -20;
inline constexpr std::size_t kPowers = 32;  ///< up to 2^12
using PowerHistogram = std::array<std::uint64_t, kPowers>;

/// Zeros, NaN and infinities are in no bin.
void addPowers(const float* values, std::size_t count, PowerHistogram& histogram);

struct RangeStrip {
    double step = 0;            ///< of the quantizer; with a scale a channel the finest
    double low = 0, high = 0;   ///< that it can represent; with a scale a channel the widest
};

struct LayerRanges {
    NodeId node;  ///< in the source graph
    std::optional<RangeStrip> weight;
    PowerHistogram weights{};  ///< after the transforms
    RangeStrip output;  ///< of what the layer makes; of what it reads where outputs stay in float
    double outputMin = 0, outputMax = 0;  ///< over the calibration samples
};

/// Of all layers that can be quantized, in graph order, skipped ones as if quantized. Needs data, to calibrate. Throws Error,
/// Cancelled.
std::vector<LayerRanges> rangeOverview(Session& session, const QuantizationConfig& config, const CancelToken& cancel = {});

}  // namespace quantloupe
