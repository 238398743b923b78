// SPDX-License-Identifier: Apache-2.0
// AVX-512 VNNI: 12 rows times two panels stay in registers.
#if defined(__x86_64__)
#include "runtime/integer/segment_tiles_avx512.h"

#include <algorithm>
#include <cstring>

#include "runtime/integer/segment_tiles.h"
#include "runtime/integer/vnni_intrinsics.h"

namespace quantloupe {
namespace {

/// Depth blocks whose weights stay in the L1 cache while all rows of a tile are processed.
constexpr std::size_t kBlocksTogether = 8;

/// 4 * Each rows from `first` on.
template <std::size_t Each, std::size_t Panels>
QUANTLOUPE_VNNI void addRows(const SegmentTile& t, std::size_t first, std::size_t beginBlock,
                             std::size_t endBlock) {
    constexpr std::size_t kRows = 4 * Each;
    const std::size_t stride = t.stride;
    std::int32_t* sums = t.sums + first * kSegmentColumns;
    __m512i total[kRows][Panels];
#pragma GCC unroll 12
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (std::size_t p = 0; p < Panels; ++p)
            total[r][p] =
                _mm512_loadu_si512(beginBlock == 0 ? t.offset + p * kSegmentPanel
                                                   : sums + r * kSegmentColumns + p * kSegmentPanel);
    for (std::size_t block = beginBlock; block < endBlock; ++block) {
        const std::int8_t* weight = t.weight + block * Panels * kBlockDepth * kSegmentPanel;
        const std::uint8_t* row0 = t.rows + first * stride + t.blocks[block].offset;
        const std::uint8_t *row1 = row0 + Each * stride, *row2 = row1 + Each * stride,
                           *row3 = row2 + Each * stride;
        const std::int8_t* const end = weight + t.blocks[block].fours * 64;
        for (; weight != end; weight += 64, row0 += 4, row1 += 4, row2 += 4, row3 += 4) {
            const std::uint8_t* const quarters[4] = {row0, row1, row2, row3};
            __m512i w[Panels];
#pragma GCC unroll 2
            for (std::size_t p = 0; p < Panels; ++p) {
                const std::int8_t* const panel = weight + p * kBlockDepth * kSegmentPanel;
                w[p] = _mm512_load_si512(panel);
                // The weights of the next block. Without this, resnet50_224 is 7 % slower (Zen 4, batch 1).
                _mm_prefetch(reinterpret_cast<const char*>(panel + Panels * kBlockDepth * kSegmentPanel),
                             _MM_HINT_T0);
            }
#pragma GCC unroll 4
            for (std::size_t q = 0; q < 4; ++q)
#pragma GCC unroll 3
                for (std::size_t e = 0; e < Each; ++e) {
                    std::int32_t codes;
                    std::memcpy(&codes, quarters[q] + e * stride, sizeof codes);
                    const __m512i x = _mm512_set1_epi32(codes);
#pragma GCC unroll 2
                    for (std::size_t p = 0; p < Panels; ++p)
                        total[q * Each + e][p] = _mm512_dpbusd_epi32(total[q * Each + e][p], x, w[p]);
                }
        }
    }
#pragma GCC unroll 12
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (std::size_t p = 0; p < Panels; ++p)
            _mm512_store_si512(sums + r * kSegmentColumns + p * kSegmentPanel, total[r][p]);
}

template <std::size_t Panels>
void addPanels(const SegmentTile& t) {
    for (std::size_t begin = 0; begin < t.blocks.size(); begin += kBlocksTogether) {
        const std::size_t end = std::min(t.blocks.size(), begin + kBlocksTogether);
        std::size_t r = 0;
        for (; r < t.count && t.count - r > 8; r += 12) addRows<3, Panels>(t, r, begin, end);
        for (; r < t.count; r += 4) addRows<1, Panels>(t, r, begin, end);
    }
}

void add(const SegmentTile& t) { t.panels == 2 ? addPanels<2>(t) : addPanels<1>(t); }

void nothing() {}

QUANTLOUPE_VNNI __m512 valuesOf(const SegmentRow& row, std::size_t panel, __m512 factor) {
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(row.sums + panel * kSegmentPanel)), factor);
}

QUANTLOUPE_VNNI void storeFloats(const SegmentStore& s) {
    const __m512 low = _mm512_set1_ps(s.low), high = _mm512_set1_ps(s.high);
    for (std::size_t panel = 0; panel * kSegmentPanel < s.columns; ++panel) {
        const __m512 factor = _mm512_loadu_ps(s.factor + panel * kSegmentPanel);
        const std::size_t columns = std::min(kSegmentPanel, s.columns - panel * kSegmentPanel);
        const auto mask = static_cast<__mmask16>((1u << columns) - 1);
        for (const SegmentRow& row : s.rows)
            _mm512_mask_storeu_ps(static_cast<float*>(row.output) + panel * kSegmentPanel, mask,
                                  _mm512_min_ps(_mm512_max_ps(valuesOf(row, panel, factor), low), high));
    }
}

template <bool Saturating>
QUANTLOUPE_VNNI void storeCodes(const SegmentStore& s) {
    const __m512 factors[2] = {_mm512_loadu_ps(s.factor), _mm512_loadu_ps(s.factor + kSegmentPanel)};
    const __m512 low = _mm512_set1_ps(s.low), high = _mm512_set1_ps(s.high);
    const __m512i shift = _mm512_set1_epi16(static_cast<std::int16_t>(s.shift));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const auto mask = static_cast<__mmask32>((std::uint64_t{1} << s.columns) - 1);
    for (std::size_t r = 0; r + 1 < s.rows.size(); r += 2) {
        const SegmentRow* const rows = s.rows.data() + r;
        __m512i codes[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
            __m512 value = valuesOf(rows[i / 2], i % 2, factors[i % 2]);
            if (!Saturating) value = _mm512_min_ps(_mm512_max_ps(value, low), high);
            codes[i] = _mm512_cvtps_epi32(value);  // rounds half to even, as QuantizeLinear does
        }
        // Packing works on quarters of a register, which `order` puts back in order.
        const __m512i words0 = _mm512_adds_epi16(_mm512_packs_epi32(codes[0], codes[1]), shift);
        const __m512i words1 = _mm512_adds_epi16(_mm512_packs_epi32(codes[2], codes[3]), shift);
        const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(words0, words1));
        _mm256_mask_storeu_epi8(rows[0].output, mask, _mm512_castsi512_si256(bytes));
        _mm256_mask_storeu_epi8(rows[1].output, mask, _mm512_extracti64x4_epi64(bytes, 1));
    }
}

}  // namespace

void storeSegmentsAvx512(const SegmentStore& s) {
    if (s.toFloat) return storeFloats(s);
    s.saturating ? storeCodes<true>(s) : storeCodes<false>(s);
}

const SegmentTiles& avx512VnniSegmentTiles() {
    static const SegmentTiles tiles{"AVX-512 VNNI", 48, 4, nothing, nothing, add, storeSegmentsAvx512};
    return tiles;
}

}  // namespace quantloupe
#endif
