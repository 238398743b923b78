// SPDX-License-Identifier: Apache-2.0
// VNNI on 8 columns (AVX-VNNI): 6 rows times one panel stay in registers.
#if defined(__x86_64__)
#include <algorithm>
#include <cstring>

#include "runtime/integer/integer_simd.h"
#include "runtime/integer/segment_tiles.h"

#define QUANTLOUPE_AVXVNNI __attribute__((target("avx2,avxvnni")))

namespace quantloupe {
namespace {

constexpr std::size_t kRows = 6;

const __m256i* vectorAt(const void* address) { return static_cast<const __m256i*>(address); }

QUANTLOUPE_AVXVNNI void addRows(const SegmentTile& t, std::size_t first, std::size_t panel) {
    const std::size_t stride = t.stride;
    const std::int32_t* offset = t.offset + panel * kSegmentPanel;
    __m256i left[kRows], right[kRows];
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
        left[r] = _mm256_loadu_si256(vectorAt(offset)), right[r] = _mm256_loadu_si256(vectorAt(offset + 8));
    for (std::size_t block = 0; block < t.blocks.size(); ++block) {
        const std::int8_t* weight = t.weight + (block * t.panels + panel) * kBlockDepth * kSegmentPanel;
        const std::uint8_t* row0 = t.rows + first * stride + t.blocks[block].offset;
        const std::uint8_t* row3 = row0 + 3 * stride;
        const std::int8_t* const end = weight + t.blocks[block].fours * 64;
        for (; weight != end; weight += 64, row0 += 4, row3 += 4) {
            const __m256i l = _mm256_load_si256(vectorAt(weight)),
                          h = _mm256_load_si256(vectorAt(weight + 32));
            const std::uint8_t* const halves[2] = {row0, row3};
#pragma GCC unroll 2
            for (std::size_t half = 0; half < 2; ++half)
#pragma GCC unroll 3
                for (std::size_t e = 0; e < 3; ++e) {
                    std::int32_t codes;
                    std::memcpy(&codes, halves[half] + e * stride, sizeof codes);
                    const __m256i x = _mm256_set1_epi32(codes);
                    left[half * 3 + e] = _mm256_dpbusd_avx_epi32(left[half * 3 + e], x, l);
                    right[half * 3 + e] = _mm256_dpbusd_avx_epi32(right[half * 3 + e], x, h);
                }
        }
    }
    std::int32_t* sums = t.sums + first * kSegmentColumns + panel * kSegmentPanel;
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * kSegmentColumns), left[r]);
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * kSegmentColumns + 8), right[r]);
    }
}

void add(const SegmentTile& t) {
    for (std::size_t panel = 0; panel < t.panels; ++panel)
        for (std::size_t r = 0; r < t.count; r += kRows) addRows(t, r, panel);
}

/// One panel of two rows, unless `Saturating` with the clamp of the requantization.
template <bool Saturating>
QUANTLOUPE_AVX2 void storePanel(const SegmentStore& s, const SegmentRow* rows, std::size_t first) {
    const __m256 low = _mm256_set1_ps(s.low), high = _mm256_set1_ps(s.high);
    const std::size_t columns = std::min(kSegmentPanel, s.columns - first);
    __m256 values[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t at = first + i % 2 * 8;
        const __m256i sum = _mm256_load_si256(vectorAt(rows[i / 2].sums + at));
        values[i] = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(s.factor + at));
        if (!Saturating) values[i] = _mm256_min_ps(_mm256_max_ps(values[i], low), high);
    }
    const std::size_t element = s.toFloat ? sizeof(float) : 1;
    alignas(32) std::byte results[2 * kSegmentPanel * sizeof(float)];
    if (s.toFloat)
        for (std::size_t i = 0; i < 4; ++i)
            _mm256_store_ps(reinterpret_cast<float*>(results) + i * 8, values[i]);
    else
        _mm256_store_si256(reinterpret_cast<__m256i*>(results),
                           codesOf(values[0], values[1], values[2], values[3], _mm256_set1_epi32(s.shift)));
    for (std::size_t i = 0; i < 2; ++i) {
        std::byte* output = static_cast<std::byte*>(rows[i].output) + first * element;
        if (columns == kSegmentPanel && !s.toFloat)
            std::memcpy(output, results + i * kSegmentPanel, kSegmentPanel);
        else
            std::memcpy(output, results + i * kSegmentPanel * element, columns * element);
    }
}

void store(const SegmentStore& s) {
    for (std::size_t r = 0; r + 1 < s.rows.size(); r += 2)
        for (std::size_t first = 0; first < s.columns; first += kSegmentPanel)
            (s.saturating ? storePanel<true> : storePanel<false>)(s, s.rows.data() + r, first);
}

void nothing() {}

}  // namespace

const SegmentTiles& avxVnniSegmentTiles() {
    static const SegmentTiles tiles{"AVX-VNNI", 48, kRows, nothing, nothing, add, store};
    return tiles;
}

}  // namespace quantloupe
#endif
