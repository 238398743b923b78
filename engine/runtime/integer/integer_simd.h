// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the integer kernels. Only for files that check integerKernelsAvailable() before they call it.

#include <cstdint>

#include "runtime/x86_intrinsics.h"

#define QUANTLOUPE_AVX2 __attribute__((target("avx2")))
#define QUANTLOUPE_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace quantloupe {

/// (sums + offset) * factor, clamped; 8 columns.
QUANTLOUPE_AVX2_INLINE __m256 requantized(__m256i sums, const std::int32_t* offset, const float* factor,
                                          __m256 low, __m256 high) {
    sums = _mm256_add_epi32(sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset)));
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(factor));
    return _mm256_min_ps(_mm256_max_ps(value, low), high);
}

/// Two rows of 16 values (columns 0-7 and 8-15) as codes: the first row in the low half.
QUANTLOUPE_AVX2_INLINE __m256i codesOf(__m256 a, __m256 b, __m256 c, __m256 d, __m256i shift) {
    // cvtps rounds half to even, as QuantizeLinear does.
    const __m256i first = _mm256_packs_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(a), shift),
                                             _mm256_add_epi32(_mm256_cvtps_epi32(b), shift));
    const __m256i second = _mm256_packs_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(c), shift),
                                              _mm256_add_epi32(_mm256_cvtps_epi32(d), shift));
    // Packing works on halves of a register: 4-byte groups come out as a0 b0 c0 d0 | a1 b1 c1 d1.
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

}  // namespace quantloupe
