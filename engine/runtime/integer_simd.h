// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the integer kernels share. Only for files that check integerKernelsAvailable() before they call it.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#define QUANTLOUPE_AVX2 __attribute__((target("avx2")))
#define QUANTLOUPE_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace quantloupe {

/// (sums + offset) * factor, clamped; 8 columns.
QUANTLOUPE_AVX2_INLINE __m256 requantized(__m256i sums, const std::int32_t* offset, const float* factor, __m256 low,
                                          __m256 high) {
    sums = _mm256_add_epi32(sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset)));
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(factor));
    return _mm256_min_ps(_mm256_max_ps(value, low), high);
}

/// 16 sums, columns 0-7 and 8-15, as 16 codes.
QUANTLOUPE_AVX2_INLINE __m128i codesOf(__m256 first, __m256 second, __m256i shift) {
    // cvtps rounds half to even, as QuantizeLinear does.
    const __m256i a = _mm256_add_epi32(_mm256_cvtps_epi32(first), shift);
    const __m256i b = _mm256_add_epi32(_mm256_cvtps_epi32(second), shift);
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
    return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

}  // namespace quantloupe
