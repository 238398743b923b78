// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minimum and maximum of each channel of a weight, or of a streamed activation.

#include <limits>
#include <span>
#include <vector>

#include "analysis/channel_layout.h"
#include "model/constant.h"

namespace quantloupe {

struct ChannelRange {
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();

    bool empty() const { return min > max; }  ///< no value yet
    void merge(const ChannelRange& other);
    bool operator==(const ChannelRange&) const = default;
};

/// Widens `ranges` (layout.channels items) to include the values. NaN is ignored, infinities are not.
void addRanges(const ChannelLayout& layout, const float* values, std::span<ChannelRange> ranges);

/// Returns the ranges of a float32 constant along `axis` (from the end if negative). Throws Error for other
/// types and for an invalid axis.
std::vector<ChannelRange> channelRanges(const Constant& constant, int axis);

}  // namespace quantloupe
