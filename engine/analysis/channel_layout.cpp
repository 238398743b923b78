// SPDX-License-Identifier: Apache-2.0
#include "analysis/channel_layout.h"

#include "base/error.h"

namespace quantloupe {

ChannelLayout channelLayout(const TensorDesc& desc) {
    if (desc.dims.size() < 2) return {1, 1, desc.count()};
    ChannelLayout layout = channelLayout(desc.dims, 1);
    if (desc.layout == Layout::ChannelsLast) {
        layout.outer *= layout.inner;
        layout.inner = 1;
    }
    return layout;
}

ChannelLayout channelLayout(const Dims& dims, int axis) {
    const auto rank = static_cast<int>(dims.size());
    const int positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank)
        failInput("the tensor is {}: it has no axis {}", toString(dims), axis);
    const AxisExtents split = axisExtents(dims, static_cast<std::size_t>(positive));
    return {split.outer, split.extent, split.inner};
}

}  // namespace quantloupe
