// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minimum and maximum of each channel: of a weight at once, of an activation streamed.

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

/// Widens `ranges` (layout.channels items) by the values. NaN is passed over, infinities count.
void addRanges(const ChannelLayout& layout, const float* values, std::span<ChannelRange> ranges);

/// Of a float32 constant along `axis` (from the end if negative). Throws Error for other types and for an axis that it
/// does not have.
std::vector<ChannelRange> channelRanges(const Constant& constant, int axis);

}  // namespace quantloupe
