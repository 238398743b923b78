// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/broadcast.h"

#include "base/error.h"

namespace quantloupe {

Dims broadcastDims(const Dims& left, const Dims& right) {
    const std::size_t rank = std::max(left.size(), right.size());
    Dims result(rank, 1);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t l = i < left.size() ? left[left.size() - 1 - i] : 1;
        const std::int64_t r = i < right.size() ? right[right.size() - 1 - i] : 1;
        if (l != r && l != 1 && r != 1)
            failInput("the shapes {} and {} do not broadcast", toString(left), toString(right));
        result[rank - 1 - i] = l == 1 ? r : l;
    }
    return result;
}

}  // namespace quantloupe
