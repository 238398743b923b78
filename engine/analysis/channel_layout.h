// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory layout of channels: channels last, planar, or any axis of a weight.

#include <cstddef>

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The element i of channel c in block o is at (o * channels + c) * inner + i.
struct ChannelLayout {
    std::size_t outer = 1, channels = 1, inner = 1;

    std::size_t count() const { return outer * channels * inner; }
    bool operator==(const ChannelLayout&) const = default;
};

/// Returns the layout of an activation. Channels are axis 1 of its logical dimensions; below rank 2 there is
/// one channel.
ChannelLayout channelLayout(const TensorDesc& desc);
/// Returns the layout of a row-major tensor along `axis` (from the end if negative). Throws Error if `dims`
/// does not have the axis.
ChannelLayout channelLayout(const Dims& dims, int axis);

}  // namespace quantloupe
