// SPDX-License-Identifier: Apache-2.0
#include "runtime/broadcast.h"

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

std::vector<std::size_t> broadcastStrides(const Dims& from, const Dims& to) {
    std::vector<std::size_t> strides(to.size(), 0);
    std::size_t stride = 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int64_t extent = from[from.size() - 1 - i];
        if (extent != 1) strides[to.size() - 1 - i] = stride;
        stride *= static_cast<std::size_t>(extent);
    }
    return strides;
}

}  // namespace quantloupe
