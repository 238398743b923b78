// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the elements of a channel lie in memory, whichever the layout: channels last, planar, or any axis of a weight.

#include <cstddef>

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The element i of channel c in block o is at (o * channels + c) * inner + i.
struct ChannelLayout {
    std::size_t outer = 1, channels = 1, inner = 1;

    std::size_t count() const { return outer * channels * inner; }
    /// Only the first `present` of `batch` samples: the rest of a last chunk is padding.
    ChannelLayout firstSamples(std::size_t present, std::size_t batch) const;
    bool operator==(const ChannelLayout&) const = default;
};

/// Of an activation: channels are axis 1 of its logical dimensions. Below rank 2 all is one channel.
ChannelLayout channelLayout(const TensorDesc& desc);
/// Of a row-major tensor along `axis` (from the end if negative). Throws Error for an axis that `dims` does not have.
ChannelLayout channelLayout(const Dims& dims, int axis);

}  // namespace quantloupe
