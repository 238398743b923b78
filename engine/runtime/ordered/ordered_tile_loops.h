// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of ordered_tiles.h for one kind of vector. `Isa` has a type Vec of kWidth floats, and load,
// store, broadcast, zero, add, multiply, fused (a * b + c), least and largest. Define QUANTLOUPE_TILE, the
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
    QUANTLOUPE_TILE_INLINE void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
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
};

/// x bounded to at least `low`, then to at most `high`; NaN stays NaN.
template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec boundedTile(typename Isa::Vec x, typename Isa::Vec low,
                                                     typename Isa::Vec high) {
    return Isa::least(high, Isa::largest(low, x));
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

/// `Rows` rows of up to `Vectors` vectors of columns. The sums stay in registers.
template <typename Isa, std::size_t Rows, std::size_t Vectors>
QUANTLOUPE_TILE_INLINE void multiplyRows(const TileArguments& a) {
    using Vec = typename Isa::Vec;
    constexpr std::size_t kWidth = Isa::kWidth, kColumns = 2 * kWidth, kPointers = (Rows + 2) / 3;
    Vec sums[Rows][Vectors];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Isa::zero();
    const std::size_t stride = a.rowStride;
    const float* rows[kPointers];
#pragma GCC unroll 16
    for (std::size_t p = 0; p < kPointers; ++p) rows[p] = a.left + 3 * p * stride;
    const float* right = a.right;
    if (a.offsets == nullptr) {
#pragma GCC unroll 4
        for (std::size_t k = 0; k < a.inner; ++k, right += kColumns) {
            addProducts<Isa, Rows, Vectors>(rows, stride, right, sums);
#pragma GCC unroll 16
            for (std::size_t p = 0; p < kPointers; ++p) ++rows[p];
        }
    } else {
#pragma GCC unroll 2
        for (std::size_t k = 0; k < a.inner; ++k, right += kColumns) {
            const float* from[kPointers];
#pragma GCC unroll 16
            for (std::size_t p = 0; p < kPointers; ++p) from[p] = rows[p] + a.offsets[k];
            addProducts<Isa, Rows, Vectors>(from, stride, right, sums);
        }
    }
    const Vec alpha = Isa::broadcast(a.alpha), low = Isa::broadcast(a.low), high = Isa::broadcast(a.high);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) {
            float* kept = a.kept + r * kColumns + v * kWidth;
            Vec sum = sums[r][v];
            if (!a.first)
                sum = Isa::fused(sum, alpha, Isa::load(kept));
            else if (a.start != nullptr)
                sum = Isa::fused(sum, alpha, Isa::load(a.start + v * kWidth));
            else
                sum = Isa::multiply(sum, alpha);
            if (!a.last) {
                Isa::store(kept, sum);
                continue;
            }
            if (a.bias != nullptr) sum = Isa::add(sum, Isa::load(a.bias + v * kWidth));
            sum = boundedTile<Isa>(sum, low, high);
            Isa::store(a.columns == Vectors * kWidth ? a.result + r * a.resultStride + v * kWidth : kept,
                       sum);
        }
    if (a.last && a.columns != Vectors * kWidth)
        for (std::size_t r = 0; r < Rows; ++r)
            std::memcpy(a.result + r * a.resultStride, a.kept + r * kColumns, a.columns * sizeof(float));
}

template <typename Isa, std::size_t Rows>
QUANTLOUPE_TILE_INLINE void multiplyTile(const TileArguments& a) {
    if (a.columns > Isa::kWidth)
        multiplyRows<Isa, Rows, 2>(a);
    else
        multiplyRows<Isa, Rows, 1>(a);
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
                const float x = a.left[a.offsets == nullptr ? static_cast<std::ptrdiff_t>(begin + i)
                                                            : a.offsets[begin + i]];
                lanes[i] = Isa::add(lanes[i], Isa::multiply(Isa::broadcast(x), Isa::load(right)));
            }
        }
        const Vec first = Isa::add(Isa::add(Isa::add(lanes[0], lanes[1]), lanes[2]), lanes[3]);
        const Vec second = Isa::add(Isa::add(Isa::add(lanes[4], lanes[5]), lanes[6]), lanes[7]);
        Vec sum = Isa::add(first, second);
        if (a.bias != nullptr) sum = Isa::add(sum, Isa::load(a.bias + c));
        alignas(64) float stored[kWidth];
        Isa::store(stored, boundedTile<Isa>(sum, low, high));
        std::memcpy(a.result + c, stored, std::min(kWidth, a.columns - c) * sizeof(float));
    }
}

/// `Vectors` vectors of channels, starting at channel `c`.
template <typename Isa, std::size_t Vectors>
QUANTLOUPE_TILE_INLINE void depthwiseChannels(const DepthwiseArguments& a, std::size_t c) {
    using Vec = typename Isa::Vec;
    Vec sums[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) sums[v] = Isa::zero();
    const float* weight = a.weight + c;
    for (std::size_t t = 0; t < a.products;) {
        const std::size_t left = a.products - t, together = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        Vec group[Vectors];
        for (std::size_t i = 0; i < together; ++i, weight += a.channels)
            for (std::size_t v = 0; v < Vectors; ++v) {
                const Vec product = Isa::multiply(Isa::load(a.taps[t + i] + c + v * Isa::kWidth),
                                                  Isa::load(weight + v * Isa::kWidth));
                group[v] = i == 0 ? product : Isa::add(group[v], product);
            }
        for (std::size_t v = 0; v < Vectors; ++v) sums[v] = Isa::add(group[v], sums[v]);
        t += together;
    }
    const Vec low = Isa::broadcast(a.low), high = Isa::broadcast(a.high);
    for (std::size_t v = 0; v < Vectors; ++v) {
        if (a.bias != nullptr) sums[v] = Isa::add(sums[v], Isa::load(a.bias + c + v * Isa::kWidth));
        Isa::store(a.result + c + v * Isa::kWidth, boundedTile<Isa>(sums[v], low, high));
    }
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE void depthwisePixel(const DepthwiseArguments& a) {
    constexpr std::size_t kWidth = Isa::kWidth;
    std::size_t c = 0;
    for (; c + 2 * kWidth <= a.channels; c += 2 * kWidth) depthwiseChannels<Isa, 2>(a, c);
    for (; c + kWidth <= a.channels; c += kWidth) depthwiseChannels<Isa, 1>(a, c);
    for (; c < a.channels; ++c) depthwiseChannels<PlainIsa<1>, 1>(a, c);
}

}  // namespace
}  // namespace quantloupe
