// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scale of a weight, or of one of its channels.

#include <span>
#include <utility>

#include "config/quantization_config.h"

namespace quantloupe {

struct WeightScale {
    float scale = 1;
    int zeroPoint = 0;
};

/// The lowest and highest stored code. Arq uses all of them, whatever `restricted` says.
std::pair<int, int> weightCodes(const WeightScheme& scheme);

/// For finite values. Values that are all 0 give scale 1. Any thread.
WeightScale weightScale(std::span<const float> values, const WeightScheme& scheme);

}  // namespace quantloupe
