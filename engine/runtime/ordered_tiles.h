// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of ordered products: 6 rows times a panel of 16 columns, each element summed by fused multiply-adds, one after the
// other. The same bits with and without the processor's own instruction for it.

#include <cstddef>

namespace quantloupe {

constexpr std::size_t kTileRows = 6, kTileColumns = 16;

struct TileArguments {
    const float* left;    ///< [inner][kTileRows]
    const float* right;   ///< [inner][kTileColumns]
    std::size_t inner;
    std::size_t block;    ///< so many products are added up from 0; then the sum is added to the result
    const float* start;   ///< [kTileColumns], what each result begins with, or null
    float* result;        ///< [kTileRows][kTileColumns]
};

/// Picks the fast loop where the processor has fused multiply-adds for 8 floats.
void multiplyTile(const TileArguments& arguments);
/// For any processor: slow without the instruction.
void multiplyTilePortably(const TileArguments& arguments);

}  // namespace quantloupe
