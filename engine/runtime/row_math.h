// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums and maxima of rows of floats, computed in several lanes. Include only from functions marked
// QUANTLOUPE_SIMD, into which they are inlined.

#include <cstddef>

#include "runtime/simd.h"

namespace quantloupe {

constexpr std::size_t kLanes = 16;

template <typename F>
QUANTLOUPE_INLINE float sumOf(std::size_t count, F value) {
    float lanes[kLanes] = {};
    const std::size_t whole = count / kLanes * kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += value(i + j);
    for (std::size_t i = whole; i < count; ++i) lanes[i - whole] += value(i);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    return lanes[0];
}

QUANTLOUPE_INLINE float largestOf(const float* row, std::size_t count, float top) {
    float lanes[kLanes];
    for (float& lane : lanes) lane = top;
    const std::size_t whole = count / kLanes * kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t j = 0; j < kLanes; ++j) lanes[j] = row[i + j] > lanes[j] ? row[i + j] : lanes[j];
    for (std::size_t i = whole; i < count; ++i) lanes[0] = row[i] > lanes[0] ? row[i] : lanes[0];
    for (std::size_t j = 1; j < kLanes; ++j) lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
    return lanes[0];
}

}  // namespace quantloupe
