// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loops over positions in tensors of any rank.

#include "model/shape.h"

namespace quantloupe {

/// Calls f(position) for every position within the extents, in row-major order.
template <typename F>
void forEachPosition(const Dims& extents, F f) {
    Dims position(extents.size(), 0);
    for (std::int64_t count = elementCount(extents); count > 0; --count) {
        f(position);
        for (std::size_t d = extents.size(); d-- > 0;) {
            if (++position[d] < extents[d]) break;
            position[d] = 0;
        }
    }
}

}  // namespace quantloupe
