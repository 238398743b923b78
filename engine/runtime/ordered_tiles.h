// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of ordered products: some rows times a panel of columns, each element summed by fused
// multiply-adds, one after the other. How large a tile is depends on the processor; the bits of its elements
// do not.

#include <cstddef>
#include <limits>

namespace quantloupe {

/// One block of the inner dimension: its products are added up from 0, then the sum is added to what is
/// there.
struct TileArguments {
    const float* left = nullptr;  ///< factor k of row r is left[r * rowStride + k], or + offsets[k]
    std::size_t rowStride = 0;
    const std::ptrdiff_t* offsets = nullptr;  ///< [inner], in values, or null
    const float* right = nullptr;             ///< [inner][Tiles::columns]
    std::size_t inner = 0;
    std::size_t rows = 0;          ///< 1 to Tiles::rows
    std::size_t columns = 0;       ///< 1 to Tiles::columns, that are stored in the end
    float alpha = 1;               ///< factor of the block's sum
    bool first = true;             ///< this block begins with `start`, other ones with `kept`
    bool last = true;              ///< this block ends in `result`, other ones in `kept`
    const float* start = nullptr;  ///< [Tiles::columns], or null
    float* kept = nullptr;         ///< [rows][Tiles::columns]
    const float* bias = nullptr;   ///< [Tiles::columns], added at the end, or null
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [rows][columns]
    std::size_t resultStride = 0;
};

/// Four, two or one products of each channel are added up, then added to what is there.
struct DepthwiseArguments {
    const float* const* taps =
        nullptr;  ///< [products]: the channels of the input under each tap of one output pixel
    const float* weight = nullptr;  ///< [products][channels]
    std::size_t products = 0, channels = 0;
    const float* bias = nullptr;  ///< [channels] or null
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [channels]
};

/// A row times a panel of columns in another order: product k is rounded and added to lane k % 8; then lanes
/// 0 to 3 are added up one after the other, lanes 4 to 7 likewise, and the two sums.
struct LaneArguments {
    const float* left = nullptr;              ///< factor k is left[k], or left[offsets[k]]
    const std::ptrdiff_t* offsets = nullptr;  ///< [inner], or null
    const float* right = nullptr;             ///< [inner][Tiles::columns]
    std::size_t inner = 0;
    const float* bias = nullptr;  ///< [Tiles::columns], added at the end, or null
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [columns]
    std::size_t columns = 0;  ///< 1 to Tiles::columns, that are stored
};

struct Tiles {
    std::size_t rows, columns;
    void (*multiply)(const TileArguments&);
    void (*multiplyInLanes)(const LaneArguments&);
    void (*depthwise)(const DepthwiseArguments&);
};

constexpr std::size_t kMostTileColumns = 32;  ///< and every number of rows divides kRowsTogether
constexpr std::size_t kRowsTogether = 96;

/// The fastest of this processor.
const Tiles& tiles();

/// For any processor: slow without an instruction for fused multiply-adds.
const Tiles& portableTiles();
/// Null without the instructions (instructionSets()).
const Tiles* avx2Tiles();
const Tiles* avx512Tiles();

}  // namespace quantloupe
