// SPDX-License-Identifier: Apache-2.0
#include "base/compact_integers.h"

#include <algorithm>

namespace quantloupe {

CompactIntegers::CompactIntegers(std::span<const std::int32_t> values) {
    if (values.empty()) return;
    const auto [least, most] = std::ranges::minmax(values);
    *this = CompactIntegers(values.size(), least, most);
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
}

std::vector<std::int32_t> CompactIntegers::values() const {
    std::vector<std::int32_t> all(size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = (*this)[i];
    return all;
}

}  // namespace quantloupe
