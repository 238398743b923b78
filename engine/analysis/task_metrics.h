// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the network's outputs are worth: top-1, top-5, agreement, intervals.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/tensor_metrics.h"

namespace quantloupe {

/// The verdict on one sample.
struct SampleVerdict {
    std::int32_t predicted = -1;  ///< index of the largest output, the first of equals
    bool top5 = false;            ///< the label is among the five largest
};

/// `label` empty: top5 stays false. Ties rank by index. NaN counts as smallest.
SampleVerdict judge(const float* outputs, std::size_t classes, std::optional<int> label);

/// 95 % Wilson score interval of `hits` out of `samples` (E. B. Wilson, 1927). The whole range without samples.
RateInterval wilsonInterval(std::size_t hits, std::size_t samples);

}  // namespace quantloupe
