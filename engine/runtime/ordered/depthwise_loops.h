// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of DepthwiseArguments for one kind of vector, as in ordered_tile_loops.h.

#include "runtime/ordered/ordered_tile_loops.h"

namespace quantloupe {
namespace {  // each file has its own, compiled for its instructions

/// One vector of channels of some pixels. `Products` is 0 if the number of products is not known at compile
/// time; otherwise the weights stay in registers. `Whole`: all `channels` of the vector exist.
template <typename Isa, std::size_t Products, bool Whole>
QUANTLOUPE_TILE_INLINE void depthwiseVector(const DepthwiseArguments& a, std::size_t first, std::size_t end,
                                            std::size_t c, std::size_t channels) {
    using Vec = typename Isa::Vec;
#define QUANTLOUPE_PART(p) (Whole ? Isa::load(p) : Isa::loadFirst(p, channels))
#define QUANTLOUPE_PRODUCT(t)                                  \
    Isa::multiply(QUANTLOUPE_PART(a.taps[t] + c + p * a.step), \
                  Products > 0 ? weights[t] : QUANTLOUPE_PART(a.weight + (t)*a.channels + c))
    const std::size_t products = Products > 0 ? Products : a.products, whole = products / 4 * 4;
    Vec weights[Products > 0 ? Products : 1];
    if constexpr (Products > 0)
#pragma GCC unroll 32
        for (std::size_t t = 0; t < Products; ++t)
            weights[t] = QUANTLOUPE_PART(a.weight + t * a.channels + c);
    const Vec low = Isa::broadcast(a.low), high = Isa::broadcast(a.high), zero = Isa::zero();
    const Vec bias = a.bias == nullptr ? zero : QUANTLOUPE_PART(a.bias + c);
    const Vec factor = a.factor == nullptr ? zero : QUANTLOUPE_PART(a.factor + c);
    const Vec offset = a.factor == nullptr ? zero : QUANTLOUPE_PART(a.offset + c);
    for (std::size_t p = first; p < end; ++p) {
        Vec sum = zero;
#pragma GCC unroll 8
        for (std::size_t t = 0; t < whole; t += 4) {
            Vec group = QUANTLOUPE_PRODUCT(t);
#pragma GCC unroll 4
            for (std::size_t i = 1; i < 4; ++i) group = Isa::add(group, QUANTLOUPE_PRODUCT(t + i));
            sum = Isa::add(group, sum);
        }
        if (products - whole >= 2)
            sum = Isa::add(Isa::add(QUANTLOUPE_PRODUCT(whole), QUANTLOUPE_PRODUCT(whole + 1)), sum);
        if (products % 2 == 1) sum = Isa::add(QUANTLOUPE_PRODUCT(products - 1), sum);
        if (a.bias != nullptr) sum = Isa::add(sum, bias);
        if (a.factor != nullptr) sum = Isa::add(Isa::multiply(sum, factor), offset);
        sum = boundedTile<Isa>(sum, low, high);
        float* to = a.result + p * a.channels + c;
        if constexpr (Whole)
            Isa::store(to, sum);
        else
            Isa::storeFirst(to, sum, channels);
    }
#undef QUANTLOUPE_PRODUCT
#undef QUANTLOUPE_PART
}

template <typename Isa, std::size_t Products>
QUANTLOUPE_TILE_INLINE void depthwiseProducts(const DepthwiseArguments& a) {
    constexpr std::size_t kTogether = 16;  // pixels that stay in the L1 cache
    for (std::size_t first = 0; first < a.pixels; first += kTogether) {
        const std::size_t end = std::min(first + kTogether, a.pixels);
        std::size_t c = 0;
        for (; c + Isa::kWidth <= a.channels; c += Isa::kWidth)
            depthwiseVector<Isa, Products, true>(a, first, end, c, Isa::kWidth);
        if (c < a.channels) depthwiseVector<Isa, Products, false>(a, first, end, c, a.channels - c);
    }
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE void depthwisePixels(const DepthwiseArguments& a) {
    if (a.products == 9)
        depthwiseProducts<Isa, 9>(a);
    else if (a.products == 25)
        depthwiseProducts<Isa, 25>(a);
    else
        depthwiseProducts<Isa, 0>(a);
}

}  // namespace
}  // namespace quantloupe
