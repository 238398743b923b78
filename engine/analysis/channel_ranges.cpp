// SPDX-License-Identifier: Apache-2.0
#include "analysis/channel_ranges.h"

#include "base/error.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

void widenByRun(const float* values, std::size_t count, ChannelRange& range) {
    float low = range.min, high = range.max;
    for (std::size_t i = 0; i < count; ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    range = {low, high};
}

/// Widens the ranges of all channels by a row with one value per channel.
QUANTLOUPE_SIMD void widenByRow(const float* values, std::size_t channels, float* low, float* high) {
    for (std::size_t c = 0; c < channels; ++c) {
        low[c] = values[c] < low[c] ? values[c] : low[c];
        high[c] = values[c] > high[c] ? values[c] : high[c];
    }
}

}  // namespace

void ChannelRange::merge(const ChannelRange& other) {
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
}

void addRanges(const ChannelLayout& layout, const float* values, std::span<ChannelRange> ranges) {
    if (ranges.size() != layout.channels)
        fail(ErrorKind::Internal, "{} ranges for {} channels", ranges.size(), layout.channels);
    if (layout.inner != 1) {
        for (std::size_t o = 0; o < layout.outer; ++o)
            for (ChannelRange& range : ranges) {
                widenByRun(values, layout.inner, range);
                values += layout.inner;
            }
        return;
    }
    std::vector<float> low(layout.channels), high(layout.channels);
    for (std::size_t c = 0; c < layout.channels; ++c) low[c] = ranges[c].min, high[c] = ranges[c].max;
    for (std::size_t o = 0; o < layout.outer; ++o)
        widenByRow(values + o * layout.channels, layout.channels, low.data(), high.data());
    for (std::size_t c = 0; c < layout.channels; ++c) ranges[c] = {low[c], high[c]};
}

std::vector<ChannelRange> channelRanges(const Constant& constant, int axis) {
    const ChannelLayout layout = channelLayout(constant.dims(), axis);
    std::vector<ChannelRange> ranges(layout.channels);
    addRanges(layout, constant.floats().data(), ranges);
    return ranges;
}

}  // namespace quantloupe
