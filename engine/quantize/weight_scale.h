// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scale of a weight or of one of its channels.

#include <span>
#include <utility>

#include "config/quantization_config.h"

namespace quantloupe {

struct WeightScale {
    float scale = 1;
    int zeroPoint = 0;
};

/// Returns the lowest and highest stored code. Arq uses all codes, regardless of `restricted`.
std::pair<int, int> weightCodes(const WeightScheme& scheme);

/// Computes the scale for finite values; 1 if all values are 0. May be called from any thread.
WeightScale weightScale(std::span<const float> values, const WeightScheme& scheme);

}  // namespace quantloupe
