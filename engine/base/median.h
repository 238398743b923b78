// SPDX-License-Identifier: Apache-2.0
#pragma once
// The median of a list.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace quantloupe {

/// Returns the middle value, or the mean of the two middle values. The list must not be empty.
template <typename T>
T medianOf(std::vector<T> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace quantloupe
