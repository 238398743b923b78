// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums over rows of eight elements, one sum per column. Each column is summed in the order of the rows, so
// the results are bit-identical with every instruction set. Eight columns fill one AVX-512 register or two
// AVX2 registers.

#include <cstddef>

namespace quantloupe {

/// The sums of tensor_metrics.h, with one value per column.
struct DifferenceLanes {
    static constexpr std::size_t kCount = 8;
    double difference[kCount] = {}, reference[kCount] = {}, tested[kCount] = {}, product[kCount] = {};
    double maxAbsolute[kCount] = {}, absolute[kCount] = {}, plainReference[kCount] = {},
           plainTested[kCount] = {};
};

/// Adds `rows` rows of eight elements, `stride` elements apart, to the lanes. The rows are read once or
/// twice, so they should fit into the L1 cache.
using AddDifferenceRows = void (*)(const float* reference, const float* tested, std::size_t rows,
                                   std::size_t stride, DifferenceLanes& lanes);

/// The fastest version for this processor. Any thread.
AddDifferenceRows fastestDifferenceRows();

}  // namespace quantloupe
