// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of ordered products: some rows times a panel of columns, each element summed by consecutive
// fused multiply-adds. The size of a tile depends on the processor; the bits of its elements do not.

#include <cstddef>
#include <cstdint>
#include <limits>

namespace quantloupe {

/// One block of the inner dimension: its products are summed starting from 0, then the sum is added to the
/// previous result.
struct TileArguments {
    const float* left = nullptr;  ///< factor k of row r is left[r * rowStride + k * step]
    std::size_t rowStride = 0;    ///< 1, unless `step` is 1
    std::size_t step = 1;
    /// If not null, factor k of row r is left[offsets[k] + r] instead.
    const std::uint32_t* offsets = nullptr;
    const float* right = nullptr;  ///< [inner][Tiles::columns]
    std::size_t inner = 0;
    std::size_t rows = 0;          ///< 1 to Tiles::rows
    std::size_t columns = 0;       ///< 1 to Tiles::columns, the number of columns stored at the end
    float alpha = 1;               ///< factor of the block's sum
    bool first = true;             ///< this block continues from `start`, later ones from `kept`
    bool last = true;              ///< this block is stored in `result`, earlier ones in `kept`
    const float* start = nullptr;  ///< [Tiles::columns], or null
    float* kept = nullptr;         ///< [rows][Tiles::columns]
    const float* bias = nullptr;   ///< [Tiles::columns], added at the end, or null
    /// [Tiles::columns]: after the bias, multiplies by `factor`, rounds, and adds `offset`; or null
    const float *factor = nullptr, *offset = nullptr;
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [rows][columns]
    std::size_t resultStride = 0;
    /// Memory that will be read soon; `fetchedLines` cache lines of it are prefetched for every kTileChunk
    /// products.
    const float* fetched = nullptr;
    std::size_t fetchedLines = 0;
};

constexpr std::size_t kTileChunk = 16;
constexpr std::size_t kLineFloats = 16;  ///< floats in a cache line

/// Some adjacent output pixels. Four, two or one products of each channel are summed, then added to the
/// previous sum.
struct DepthwiseArguments {
    const float* const* taps =
        nullptr;           ///< [products]: the input channels under each tap of the first output pixel
    std::size_t step = 0;  ///< distance from the input of an output pixel to that of the next one
    std::size_t pixels = 1;
    const float* weight = nullptr;  ///< [products][channels]
    std::size_t products = 0, channels = 0;
    const float* bias = nullptr;                       ///< [channels] or null
    const float *factor = nullptr, *offset = nullptr;  ///< [channels], as in TileArguments, or null
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [pixels][channels]
};

/// A row times a panel of columns in another order: product k is rounded and added to lane k % 8; then lanes
/// 0 to 3 are added one after the other, lanes 4 to 7 likewise, and finally the two sums.
struct LaneArguments {
    const float* left = nullptr;  ///< factor k is left[k * step]
    std::size_t step = 1;
    const float* right = nullptr;  ///< [inner][Tiles::columns]
    std::size_t inner = 0;
    const float* bias = nullptr;                       ///< [Tiles::columns], added at the end, or null
    const float *factor = nullptr, *offset = nullptr;  ///< [Tiles::columns], as in TileArguments, or null
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
    float* result = nullptr;  ///< [columns]
    std::size_t columns = 0;  ///< 1 to Tiles::columns, the number of columns stored
};

/// Transposes `channels` values of each of `rows` pixels: to[c * step + r] = from[r][c].
struct InterleaveArguments {
    const float* const* from = nullptr;  ///< [rows]
    std::size_t rows = 0, channels = 0;
    float* to = nullptr;
    std::size_t step = 0;  ///< at least `rows`
};

enum class Curve {
    Sigmoid,
    Tanh,
    Swish,  ///< x * sigmoid(alpha * x)
};

/// A function of each value.
struct CurveArguments {
    Curve curve = Curve::Sigmoid;
    float alpha = 1;
    const float* in = nullptr;
    float* out = nullptr;  ///< may be `in`
    std::size_t count = 0;
};

struct Tiles {
    std::size_t rows, columns;
    void (*multiply)(const TileArguments&);
    void (*multiplyInLanes)(const LaneArguments&);
    void (*depthwise)(const DepthwiseArguments&);
    void (*interleave)(const InterleaveArguments&);
    void (*curve)(const CurveArguments&);
};

constexpr std::size_t kMaxTileColumns = 32;

/// The fastest tiles for this processor.
const Tiles& tiles();

/// Tiles for any processor: slow without fused multiply-add instructions.
const Tiles& portableTiles();
/// Null if the processor lacks the instructions (instructionSets()).
const Tiles* avx2Tiles();
const Tiles* avx512Tiles();

}  // namespace quantloupe
