// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of ordered_tiles.h for one kind of vector. `Isa` has a type Vec of kWidth floats, and load,
// loadFirst, store, storeFirst, broadcast, zero, add, multiply, divide, fused (a * b + c), least and largest,
// and transpose() for blocks of kBlock pixels and up to kBlock channels. Define QUANTLOUPE_TILE, the
// attribute of all functions for these instructions, and the Isa before including this file.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {
namespace {  // each file has its own, compiled for its instructions

#define QUANTLOUPE_TILE_INLINE QUANTLOUPE_TILE static inline __attribute__((always_inline))

/// Portable code without special instructions.
template <std::size_t Width>
struct PlainIsa {
    struct Vec {
        float lane[Width];
    };
    static constexpr std::size_t kWidth = Width;
    QUANTLOUPE_TILE_INLINE Vec load(const float* p) {
        Vec result;
        std::memcpy(&result, p, sizeof result);
        return result;
    }
    QUANTLOUPE_TILE_INLINE Vec loadFirst(const float* p, std::size_t count) {
        Vec result = zero();
        std::memcpy(&result, p, count * sizeof(float));
        return result;
    }
    QUANTLOUPE_TILE_INLINE void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
    QUANTLOUPE_TILE_INLINE void storeFirst(float* p, const Vec& x, std::size_t count) {
        std::memcpy(p, &x, count * sizeof(float));
    }
    QUANTLOUPE_TILE_INLINE Vec broadcast(float x) {
        Vec result;
        for (float& lane : result.lane) lane = x;
        return result;
    }
    QUANTLOUPE_TILE_INLINE Vec zero() { return broadcast(0.0f); }
    QUANTLOUPE_TILE_INLINE Vec add(Vec x, const Vec& y) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] += y.lane[i];
        return x;
    }
    QUANTLOUPE_TILE_INLINE Vec multiply(Vec x, const Vec& y) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] *= y.lane[i];
        return x;
    }
    QUANTLOUPE_TILE_INLINE Vec divide(Vec x, const Vec& y) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] /= y.lane[i];
        return x;
    }
    QUANTLOUPE_TILE_INLINE Vec fused(Vec x, const Vec& y, const Vec& z) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] = std::fma(x.lane[i], y.lane[i], z.lane[i]);
        return x;
    }
    QUANTLOUPE_TILE_INLINE Vec least(Vec x, const Vec& y) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] = x.lane[i] < y.lane[i] ? x.lane[i] : y.lane[i];
        return x;
    }
    QUANTLOUPE_TILE_INLINE Vec largest(Vec x, const Vec& y) {
        for (std::size_t i = 0; i < Width; ++i) x.lane[i] = x.lane[i] > y.lane[i] ? x.lane[i] : y.lane[i];
        return x;
    }
    static constexpr std::size_t kBlock = 1;
    QUANTLOUPE_TILE_INLINE void transpose(const float* const* from, std::size_t channel, std::size_t,
                                          float* to, std::size_t) {
        *to = from[0][channel];
    }
};

/// x bounded to at least `low`, then to at most `high`; NaN stays NaN.
template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec boundedTile(typename Isa::Vec x, typename Isa::Vec low,
                                                     typename Isa::Vec high) {
    return Isa::least(high, Isa::largest(low, x));
}

/// x * factor + offset; the product is rounded before the sum.
template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec scaledTile(typename Isa::Vec x, const float* factor,
                                                    const float* offset) {
    return Isa::add(Isa::multiply(x, Isa::load(factor)), Isa::load(offset));
}

/// One step along the inner dimension: from[p] points to the factors of rows 3p, 3p + 1 and 3p + 2, one
/// stride apart.
template <typename Isa, std::size_t Rows, std::size_t Vectors>
QUANTLOUPE_TILE_INLINE void addProducts(const float* const (&from)[(Rows + 2) / 3], std::size_t stride,
                                        const float* right, typename Isa::Vec (&sums)[Rows][Vectors]) {
    typename Isa::Vec columns[Vectors];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < Vectors; ++v) columns[v] = Isa::load(right + v * Isa::kWidth);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
        const typename Isa::Vec x = Isa::broadcast(from[r / 3][r % 3 * stride]);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Isa::fused(x, columns[v], sums[r][v]);
    }
}

/// Calls `use` for each vector of a tile, unrolled.
#define QUANTLOUPE_EACH_VECTOR(r, v)                                \
    _Pragma("GCC unroll 16") for (std::size_t r = 0; r < Rows; ++r) \
        _Pragma("GCC unroll 2") for (std::size_t v = 0; v < Vectors; ++v)

/// Adds the block's sums to the previous sums and stores them. Steps without effect are omitted, because they
/// would dominate small products.
template <typename Isa, std::size_t Rows, std::size_t Vectors>
QUANTLOUPE_TILE_INLINE void finishTile(const TileArguments& a, typename Isa::Vec (&sums)[Rows][Vectors]) {
    using Vec = typename Isa::Vec;
    constexpr std::size_t kWidth = Isa::kWidth, kColumns = 2 * kWidth;
    const Vec alpha = Isa::broadcast(a.alpha);
    if (!a.first) {
        QUANTLOUPE_EACH_VECTOR(r, v)
        sums[r][v] = Isa::fused(sums[r][v], alpha, Isa::load(a.kept + r * kColumns + v * kWidth));
    } else if (a.start != nullptr) {
        QUANTLOUPE_EACH_VECTOR(r, v)
        sums[r][v] = Isa::fused(sums[r][v], alpha, Isa::load(a.start + v * kWidth));
    } else if (a.alpha != 1.0f) {
        QUANTLOUPE_EACH_VECTOR(r, v) sums[r][v] = Isa::multiply(sums[r][v], alpha);
    }
    if (!a.last) {
        QUANTLOUPE_EACH_VECTOR(r, v) Isa::store(a.kept + r * kColumns + v * kWidth, sums[r][v]);
        return;
    }
    if (a.bias != nullptr) {
        QUANTLOUPE_EACH_VECTOR(r, v) sums[r][v] = Isa::add(sums[r][v], Isa::load(a.bias + v * kWidth));
    }
    if (a.factor != nullptr) {
        QUANTLOUPE_EACH_VECTOR(r, v)
        sums[r][v] = scaledTile<Isa>(sums[r][v], a.factor + v * kWidth, a.offset + v * kWidth);
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (a.low != -kInfinity || a.high != kInfinity) {
        const Vec low = Isa::broadcast(a.low), high = Isa::broadcast(a.high);
        QUANTLOUPE_EACH_VECTOR(r, v) sums[r][v] = boundedTile<Isa>(sums[r][v], low, high);
    }
    const std::size_t inLast = a.columns - (Vectors - 1) * kWidth;
    QUANTLOUPE_EACH_VECTOR(r, v) {
        float* to = a.result + r * a.resultStride + v * kWidth;
        if (v + 1 < Vectors || inLast == kWidth)
            Isa::store(to, sums[r][v]);
        else
            Isa::storeFirst(to, sums[r][v], inLast);
    }
}

/// How a tile finds its left factors (TileArguments).
enum class LeftFactors { Rows, Interleaved, Offsets };

/// `Rows` rows of up to `Vectors` vectors of columns. The sums stay in registers.
template <typename Isa, std::size_t Rows, std::size_t Vectors, LeftFactors Left>
QUANTLOUPE_TILE_INLINE void multiplyRows(const TileArguments& a) {
    using Vec = typename Isa::Vec;
    constexpr std::size_t kColumns = 2 * Isa::kWidth, kPointers = (Rows + 2) / 3;
    Vec sums[Rows][Vectors];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Isa::zero();
    const std::size_t stride = Left == LeftFactors::Rows ? a.rowStride : 1,
                      step = Left == LeftFactors::Rows ? 1 : a.step;
    const float* rows[kPointers];
#pragma GCC unroll 16
    for (std::size_t p = 0; p < kPointers; ++p) rows[p] = a.left + 3 * p * stride;
    const float* right = a.right;
    const float* fetched = a.fetched;
    const std::uint32_t* offsets = a.offsets;
    for (std::size_t begin = 0; begin < a.inner; begin += kTileChunk) {
        const std::size_t count = std::min(kTileChunk, a.inner - begin);
        for (std::size_t i = 0; i < a.fetchedLines; ++i, fetched += kLineFloats) __builtin_prefetch(fetched);
#pragma GCC unroll 4
        for (std::size_t k = 0; k < count; ++k, right += kColumns) {
            if constexpr (Left == LeftFactors::Offsets) rows[0] = a.left + *offsets++;
            if constexpr (Left !=
                          LeftFactors::Rows) {  // one pointer; the rows are at constant distances from it
#pragma GCC unroll 16
                for (std::size_t p = 1; p < kPointers; ++p) rows[p] = rows[0] + 3 * p;
            }
            addProducts<Isa, Rows, Vectors>(rows, stride, right, sums);
            if constexpr (Left != LeftFactors::Offsets) {
#pragma GCC unroll 16
                for (std::size_t p = 0; p < kPointers; ++p) rows[p] += step;
            }
        }
    }
    finishTile<Isa, Rows, Vectors>(a, sums);
}

template <typename Isa, std::size_t Rows, LeftFactors Left>
QUANTLOUPE_TILE_INLINE void multiplyTile(const TileArguments& a) {
    a.columns > Isa::kWidth ? multiplyRows<Isa, Rows, 2, Left>(a) : multiplyRows<Isa, Rows, 1, Left>(a);
}

template <typename Isa, std::size_t Rows>
QUANTLOUPE_TILE_INLINE void multiplyTile(const TileArguments& a) {
    if (a.offsets != nullptr)
        multiplyTile<Isa, Rows, LeftFactors::Offsets>(a);
    else if (a.step == 1)
        multiplyTile<Isa, Rows, LeftFactors::Rows>(a);
    else
        multiplyTile<Isa, Rows, LeftFactors::Interleaved>(a);
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE void multiplyLanes(const LaneArguments& a) {
    using Vec = typename Isa::Vec;
    constexpr std::size_t kWidth = Isa::kWidth, kColumns = 2 * kWidth, kLaneCount = 8;
    const Vec low = Isa::broadcast(a.low), high = Isa::broadcast(a.high);
    for (std::size_t c = 0; c < a.columns; c += kWidth) {
        Vec lanes[kLaneCount];
        for (Vec& lane : lanes) lane = Isa::zero();
        const float* right = a.right + c;
        for (std::size_t begin = 0; begin < a.inner; begin += kLaneCount) {
            const std::size_t count = std::min(kLaneCount, a.inner - begin);
            for (std::size_t i = 0; i < count; ++i, right += kColumns) {
                const float x = a.left[(begin + i) * a.step];
                lanes[i] = Isa::add(lanes[i], Isa::multiply(Isa::broadcast(x), Isa::load(right)));
            }
        }
        const Vec first = Isa::add(Isa::add(Isa::add(lanes[0], lanes[1]), lanes[2]), lanes[3]);
        const Vec second = Isa::add(Isa::add(Isa::add(lanes[4], lanes[5]), lanes[6]), lanes[7]);
        Vec sum = Isa::add(first, second);
        if (a.bias != nullptr) sum = Isa::add(sum, Isa::load(a.bias + c));
        if (a.factor != nullptr) sum = scaledTile<Isa>(sum, a.factor + c, a.offset + c);
        Isa::storeFirst(a.result + c, boundedTile<Isa>(sum, low, high), std::min(kWidth, a.columns - c));
    }
}

/// Blocks of Isa::kBlock rows and channels; the last rows overlap with those before them.
template <typename Isa>
QUANTLOUPE_TILE_INLINE void interleavePixels(const InterleaveArguments& a) {
    constexpr std::size_t kBlock = Isa::kBlock;
    if (a.rows < kBlock) {
        for (std::size_t r = 0; r < a.rows; ++r)
            for (std::size_t c = 0; c < a.channels; ++c) a.to[c * a.step + r] = a.from[r][c];
        return;
    }
    for (std::size_t next = 0; next < a.rows; next += kBlock) {
        const std::size_t r = std::min(next, a.rows - kBlock);
        std::size_t c = 0;
        for (; c + kBlock <= a.channels; c += kBlock)
            Isa::transpose(a.from + r, c, kBlock, a.to + c * a.step + r, a.step);
        if (c < a.channels) Isa::transpose(a.from + r, c, a.channels - c, a.to + c * a.step + r, a.step);
    }
}

}  // namespace
}  // namespace quantloupe
