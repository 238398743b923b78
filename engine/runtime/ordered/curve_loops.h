// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of CurveArguments for one kind of vector, as in ordered_tile_loops.h. Sigmoid and tanh are the
// rational approximations of Eigen, with the operations of ONNX Runtime (MLAS, as of 1.32): the results have
// the same bits, on every processor.

#include "runtime/ordered/ordered_tile_loops.h"

namespace quantloupe {
namespace {  // each file has its own, compiled for its instructions

/// A polynomial in x; coefficients from the highest power on.
template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec polynomialTile(typename Isa::Vec x, float highest, auto... others) {
    typename Isa::Vec sum = Isa::broadcast(highest);
    ((sum = Isa::fused(sum, x, Isa::broadcast(others))), ...);
    return sum;
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec tanhTile(typename Isa::Vec given) {
    using Vec = typename Isa::Vec;
    const Vec x = boundedTile<Isa>(given, Isa::broadcast(-9.0f), Isa::broadcast(9.0f));
    const Vec square = Isa::multiply(x, x);
    const Vec p = polynomialTile<Isa>(square, -2.76076847742355e-16f, 2.00018790482477e-13f,
                                      -8.60467152213735e-11f, 5.12229709037114e-08f, 1.48572235717979e-05f,
                                      6.37261928875436e-04f, 4.89352455891786e-03f);
    const Vec q = polynomialTile<Isa>(square, 1.19825839466702e-06f, 1.18534705686654e-04f,
                                      2.26843463243900e-03f, 4.89352518554385e-03f);
    return Isa::divide(Isa::multiply(p, x), q);
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE typename Isa::Vec sigmoidTile(typename Isa::Vec given) {
    using Vec = typename Isa::Vec;
    const Vec x = boundedTile<Isa>(given, Isa::broadcast(-18.0f), Isa::broadcast(18.0f));
    const Vec square = Isa::multiply(x, x);
    const Vec p = polynomialTile<Isa>(square, 4.37031012579801e-11f, 1.15627324459942e-07f,
                                      6.08574864600143e-05f, 8.51377133304701e-03f, 2.48287947061529e-01f);
    const Vec q =
        polynomialTile<Isa>(square, 6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                            1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f);
    const Vec value = Isa::add(Isa::divide(Isa::multiply(p, x), q), Isa::broadcast(0.5f));
    return boundedTile<Isa>(value, Isa::zero(), Isa::broadcast(1.0f));
}

template <typename Isa, Curve kCurve>
QUANTLOUPE_TILE_INLINE typename Isa::Vec curveTile(typename Isa::Vec x, typename Isa::Vec alpha) {
    if constexpr (kCurve == Curve::Sigmoid) return sigmoidTile<Isa>(x);
    if constexpr (kCurve == Curve::Tanh) return tanhTile<Isa>(x);
    if constexpr (kCurve == Curve::Swish) return Isa::multiply(x, sigmoidTile<Isa>(Isa::multiply(x, alpha)));
}

template <typename Isa, Curve kCurve>
QUANTLOUPE_TILE_INLINE void applyCurve(const CurveArguments& a) {
    const typename Isa::Vec alpha = Isa::broadcast(a.alpha);
    std::size_t i = 0;
    for (; i + Isa::kWidth <= a.count; i += Isa::kWidth)
        Isa::store(a.out + i, curveTile<Isa, kCurve>(Isa::load(a.in + i), alpha));
    const std::size_t rest = a.count - i;
    if (rest > 0)
        Isa::storeFirst(a.out + i, curveTile<Isa, kCurve>(Isa::loadFirst(a.in + i, rest), alpha), rest);
}

template <typename Isa>
QUANTLOUPE_TILE_INLINE void applyAnyCurve(const CurveArguments& a) {
    switch (a.curve) {
        case Curve::Sigmoid:
            return applyCurve<Isa, Curve::Sigmoid>(a);
        case Curve::Tanh:
            return applyCurve<Isa, Curve::Tanh>(a);
        case Curve::Swish:
            return applyCurve<Isa, Curve::Swish>(a);
    }
}

}  // namespace
}  // namespace quantloupe
