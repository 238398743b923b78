// SPDX-License-Identifier: Apache-2.0
#include "runtime/ordered_tiles.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quantloupe {
namespace {

/// Adds a block's sum, or begins with it.
void addUp(const TileArguments& a, bool first, const float* sums) {
    for (std::size_t r = 0; r < kTileRows; ++r)
        for (std::size_t c = 0; c < kTileColumns; ++c) {
            float& result = a.result[r * kTileColumns + c];
            const float sum = sums[r * kTileColumns + c];
            if (!first) result += sum;
            else result = a.start != nullptr ? a.start[c] + sum : sum;
        }
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) void multiplyFused(const TileArguments& a) {
    for (std::size_t begin = 0; begin < a.inner || begin == 0; begin += a.block) {
        const std::size_t end = std::min(a.inner, begin + a.block);
        __m256 sums[kTileRows][2];
        for (auto& row : sums) row[0] = row[1] = _mm256_setzero_ps();
        const float *left = a.left + begin * kTileRows, *right = a.right + begin * kTileColumns;
        for (std::size_t k = begin; k < end; ++k, left += kTileRows, right += kTileColumns) {
            const __m256 low = _mm256_loadu_ps(right), high = _mm256_loadu_ps(right + 8);
#pragma GCC unroll 6
            for (std::size_t r = 0; r < kTileRows; ++r) {
                const __m256 x = _mm256_broadcast_ss(left + r);
                sums[r][0] = _mm256_fmadd_ps(x, low, sums[r][0]);
                sums[r][1] = _mm256_fmadd_ps(x, high, sums[r][1]);
            }
        }
        alignas(32) float stored[kTileRows * kTileColumns];
        for (std::size_t r = 0; r < kTileRows; ++r) {
            _mm256_store_ps(stored + r * kTileColumns, sums[r][0]);
            _mm256_store_ps(stored + r * kTileColumns + 8, sums[r][1]);
        }
        addUp(a, begin == 0, stored);
    }
}

bool fuses() {
    static const bool known = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return known;
}

#endif

}  // namespace

void multiplyTilePortably(const TileArguments& a) {
    for (std::size_t begin = 0; begin < a.inner || begin == 0; begin += a.block) {
        const std::size_t end = std::min(a.inner, begin + a.block);
        float sums[kTileRows * kTileColumns] = {};
        for (std::size_t k = begin; k < end; ++k)
            for (std::size_t r = 0; r < kTileRows; ++r)
                for (std::size_t c = 0; c < kTileColumns; ++c) {
                    float& sum = sums[r * kTileColumns + c];
                    sum = std::fma(a.left[k * kTileRows + r], a.right[k * kTileColumns + c], sum);
                }
        addUp(a, begin == 0, sums);
    }
}

void multiplyTile(const TileArguments& a) {
#if defined(__x86_64__)
    if (fuses()) return multiplyFused(a);
#endif
    multiplyTilePortably(a);
}

}  // namespace quantloupe
