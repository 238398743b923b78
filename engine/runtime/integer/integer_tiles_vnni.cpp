// SPDX-License-Identifier: Apache-2.0
// vpdpbusd adds four products of a column in 32 bits, which is exact: no corrections are needed.
#include <algorithm>

#include "runtime/integer/integer_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#endif

namespace quantloupe {

#if defined(__x86_64__)

namespace {

#define QUANTLOUPE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define QUANTLOUPE_AVXVNNI __attribute__((target("avx2,avxvnni")))

int fourCodes(const std::uint8_t* codes) {
    int bits;
    std::memcpy(&bits, codes, sizeof bits);
    return bits;
}

/// Rows [0, R). The sums of R rows stay in registers.
template <std::size_t R>
QUANTLOUPE_AVX512 void rows512(const PanelArguments& a, std::size_t firstRow) {
    const auto* rows = static_cast<const std::uint8_t*>(a.rows) + firstRow * a.stride;
    const auto* weight = static_cast<const std::int8_t*>(a.weight);
    std::int32_t* sums = a.sums + firstRow * kPanelColumns;
    __m512i acc[R];
    for (std::size_t r = 0; r < R; ++r)
        acc[r] = a.first ? _mm512_setzero_si512() : _mm512_loadu_si512(sums + r * kPanelColumns);
    for (std::size_t k = 0; k < 2 * a.steps; ++k) {
        const __m512i w = _mm512_loadu_si512(weight + k * 64);
        for (std::size_t r = 0; r < R; ++r)
            acc[r] =
                _mm512_dpbusd_epi32(acc[r], _mm512_set1_epi32(fourCodes(rows + r * a.stride + 4 * k)), w);
    }
    for (std::size_t r = 0; r < R; ++r) _mm512_storeu_si512(sums + r * kPanelColumns, acc[r]);
}

template <std::size_t R>
QUANTLOUPE_AVXVNNI void rows256(const PanelArguments& a, std::size_t firstRow) {
    const auto* rows = static_cast<const std::uint8_t*>(a.rows) + firstRow * a.stride;
    const auto* weight = static_cast<const std::int8_t*>(a.weight);
    std::int32_t* sums = a.sums + firstRow * kPanelColumns;
    const auto vector = [](const void* at) { return static_cast<const __m256i*>(at); };
    __m256i left[R], right[R];
    for (std::size_t r = 0; r < R; ++r) {
        left[r] = a.first ? _mm256_setzero_si256() : _mm256_loadu_si256(vector(sums + r * kPanelColumns));
        right[r] =
            a.first ? _mm256_setzero_si256() : _mm256_loadu_si256(vector(sums + r * kPanelColumns + 8));
    }
    for (std::size_t k = 0; k < 2 * a.steps; ++k) {
        const __m256i l = _mm256_loadu_si256(vector(weight + k * 64)),
                      h = _mm256_loadu_si256(vector(weight + k * 64 + 32));
        for (std::size_t r = 0; r < R; ++r) {
            const __m256i x = _mm256_set1_epi32(fourCodes(rows + r * a.stride + 4 * k));
            left[r] = _mm256_dpbusd_avx_epi32(left[r], x, l);
            right[r] = _mm256_dpbusd_avx_epi32(right[r], x, h);
        }
    }
    for (std::size_t r = 0; r < R; ++r) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + r * kPanelColumns), left[r]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + r * kPanelColumns + 8), right[r]);
    }
}

}  // namespace

void addBytesAvx512Vnni(const PanelArguments& a) {
    std::size_t r = 0;
    for (; r + 12 <= a.count; r += 12) rows512<12>(a, r);
    for (; r + 4 <= a.count; r += 4) rows512<4>(a, r);
    for (; r < a.count; ++r) rows512<1>(a, r);
}

void addBytesAvxVnni(const PanelArguments& a) {
    std::size_t r = 0;
    for (; r + 6 <= a.count; r += 6) rows256<6>(a, r);
    for (; r < a.count; ++r) rows256<1>(a, r);
}

#else

void addBytesAvx512Vnni(const PanelArguments&) {}
void addBytesAvxVnni(const PanelArguments&) {}

#endif

}  // namespace quantloupe
