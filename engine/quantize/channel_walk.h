// SPDX-License-Identifier: Apache-2.0
#pragma once
// Iteration over the elements of a constant together with their channels.

#include "model/shape.h"

namespace quantloupe {

/// Splits the dimensions of a constant at an axis: outer x channels x inner. Axis -1 means a single channel.
struct ChannelWalk {
    std::size_t outer = 1, channels = 1, inner = 1;
    ChannelWalk(const Dims& dims, int axis) {
        for (std::size_t d = 0; d < dims.size(); ++d) {
            const auto extent = static_cast<std::size_t>(dims[d]);
            const int position = static_cast<int>(d);
            (axis < 0 || position > axis ? inner : position == axis ? channels : outer) *= extent;
        }
    }
    template <typename F>
    void forEach(F f) const {
        std::size_t i = 0;
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t c = 0; c < channels; ++c)
                for (std::size_t k = 0; k < inner; ++k) f(i++, c);
    }
};

}  // namespace quantloupe
