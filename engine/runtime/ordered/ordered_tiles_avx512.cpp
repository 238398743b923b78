// SPDX-License-Identifier: Apache-2.0
#include "runtime/instruction_sets.h"
#include "runtime/ordered/ordered_tiles.h"

#if defined(__x86_64__)
#include "runtime/x86_intrinsics.h"

#define QUANTLOUPE_TILE __attribute__((target("avx512f")))
#include "runtime/ordered/curve_loops.h"
#include "runtime/ordered/depthwise_loops.h"
#include "runtime/ordered/transpose_blocks.h"
#endif

namespace quantloupe {

#if defined(__x86_64__)

namespace {

struct Avx512 {
    using Vec = __m512;
    static constexpr std::size_t kWidth = 16;
    static constexpr __mmask16 kAll = 0xffff;
    QUANTLOUPE_TILE_INLINE Vec load(const float* p) { return _mm512_loadu_ps(p); }
    QUANTLOUPE_TILE_INLINE __mmask16 firstLanes(std::size_t count) {
        return static_cast<__mmask16>((1u << count) - 1);
    }
    QUANTLOUPE_TILE_INLINE Vec loadFirst(const float* p, std::size_t count) {
        return _mm512_maskz_loadu_ps(firstLanes(count), p);
    }
    QUANTLOUPE_TILE_INLINE void store(float* p, Vec x) { _mm512_storeu_ps(p, x); }
    QUANTLOUPE_TILE_INLINE void storeFirst(float* p, Vec x, std::size_t count) {
        _mm512_mask_storeu_ps(p, firstLanes(count), x);
    }
    QUANTLOUPE_TILE_INLINE Vec broadcast(float x) { return _mm512_set1_ps(x); }
    QUANTLOUPE_TILE_INLINE Vec zero() { return _mm512_setzero_ps(); }
    QUANTLOUPE_TILE_INLINE Vec add(Vec x, Vec y) { return _mm512_add_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec multiply(Vec x, Vec y) { return _mm512_mul_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec divide(Vec x, Vec y) { return _mm512_div_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec fused(Vec x, Vec y, Vec z) { return _mm512_fmadd_ps(x, y, z); }
    QUANTLOUPE_TILE_INLINE Vec least(Vec x, Vec y) { return _mm512_maskz_min_ps(kAll, x, y); }
    QUANTLOUPE_TILE_INLINE Vec largest(Vec x, Vec y) { return _mm512_maskz_max_ps(kAll, x, y); }
};

QUANTLOUPE_TILE void multiply(const TileArguments& a) {
    switch (a.rows) {
        case 1:
            return multiplyTile<Avx512, 1>(a);
        case 2:
            return multiplyTile<Avx512, 2>(a);
        case 3:
            return multiplyTile<Avx512, 3>(a);
        case 4:
            return multiplyTile<Avx512, 4>(a);
        case 5:
            return multiplyTile<Avx512, 5>(a);
        case 6:
            return multiplyTile<Avx512, 6>(a);
        case 7:
            return multiplyTile<Avx512, 7>(a);
        case 8:
            return multiplyTile<Avx512, 8>(a);
        case 9:
            return multiplyTile<Avx512, 9>(a);
        case 10:
            return multiplyTile<Avx512, 10>(a);
        case 11:
            return multiplyTile<Avx512, 11>(a);
        default:
            return multiplyTile<Avx512, 12>(a);
    }
}

QUANTLOUPE_TILE void multiplyInLanes(const LaneArguments& a) { multiplyLanes<Avx512>(a); }

QUANTLOUPE_TILE void depthwise(const DepthwiseArguments& a) { depthwisePixels<Avx512>(a); }

QUANTLOUPE_TILE void curve(const CurveArguments& a) { applyAnyCurve<Avx512>(a); }

QUANTLOUPE_TILE void interleave(const InterleaveArguments& a) { interleavePixels<FourByFour>(a); }

}  // namespace

const Tiles* avx512Tiles() {
    static constexpr Tiles kTiles{12,        2 * Avx512::kWidth, multiply, multiplyInLanes,
                                  depthwise, interleave,         curve};
    return instructionSets().avx512 ? &kTiles : nullptr;
}

#else

const Tiles* avx512Tiles() { return nullptr; }

#endif

}  // namespace quantloupe
