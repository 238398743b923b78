// SPDX-License-Identifier: Apache-2.0
#pragma once
// InterleaveArguments for x86: blocks of four pixels and four channels. Include after ordered_tile_loops.h.

namespace quantloupe {
namespace {

struct FourByFour {
    static constexpr std::size_t kBlock = 4;
    /// Transposes channels `channel` to `channel` + `count` - 1 of four pixels; reads no others.
    QUANTLOUPE_TILE_INLINE void transpose(const float* const* from, std::size_t channel, std::size_t count,
                                          float* to, std::size_t step) {
        __m128 lines[4];
        if (count == 4) {
#pragma GCC unroll 4
            for (std::size_t r = 0; r < 4; ++r) lines[r] = _mm_loadu_ps(from[r] + channel);
        } else {
            const __m128i wanted =
                _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(count)), _mm_setr_epi32(0, 1, 2, 3));
#pragma GCC unroll 4
            for (std::size_t r = 0; r < 4; ++r) lines[r] = _mm_maskload_ps(from[r] + channel, wanted);
        }
        _MM_TRANSPOSE4_PS(lines[0], lines[1], lines[2], lines[3]);
        if (count == 4) {
#pragma GCC unroll 4
            for (std::size_t c = 0; c < 4; ++c) _mm_storeu_ps(to + c * step, lines[c]);
        } else {
            for (std::size_t c = 0; c < count; ++c) _mm_storeu_ps(to + c * step, lines[c]);
        }
    }
};

}  // namespace
}  // namespace quantloupe
