// SPDX-License-Identifier: Apache-2.0
#include "runtime/instruction_sets.h"
#include "runtime/ordered/ordered_tiles.h"

#if defined(__x86_64__)
#include "runtime/x86_intrinsics.h"

#define QUANTLOUPE_TILE __attribute__((target("avx2,fma")))
#include "runtime/ordered/curve_loops.h"
#include "runtime/ordered/depthwise_loops.h"
#include "runtime/ordered/transpose_blocks.h"
#endif

namespace quantloupe {

#if defined(__x86_64__)

namespace {

struct Avx2 {
    using Vec = __m256;
    static constexpr std::size_t kWidth = 8;
    QUANTLOUPE_TILE_INLINE Vec load(const float* p) { return _mm256_loadu_ps(p); }
    QUANTLOUPE_TILE_INLINE __m256i firstLanes(std::size_t count) {
        const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes);
    }
    QUANTLOUPE_TILE_INLINE Vec loadFirst(const float* p, std::size_t count) {
        return _mm256_maskload_ps(p, firstLanes(count));
    }
    QUANTLOUPE_TILE_INLINE void store(float* p, Vec x) { _mm256_storeu_ps(p, x); }
    QUANTLOUPE_TILE_INLINE void storeFirst(float* p, Vec x, std::size_t count) {
        _mm256_maskstore_ps(p, firstLanes(count), x);
    }
    QUANTLOUPE_TILE_INLINE Vec broadcast(float x) { return _mm256_set1_ps(x); }
    QUANTLOUPE_TILE_INLINE Vec zero() { return _mm256_setzero_ps(); }
    QUANTLOUPE_TILE_INLINE Vec add(Vec x, Vec y) { return _mm256_add_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec multiply(Vec x, Vec y) { return _mm256_mul_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec divide(Vec x, Vec y) { return _mm256_div_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec fused(Vec x, Vec y, Vec z) { return _mm256_fmadd_ps(x, y, z); }
    QUANTLOUPE_TILE_INLINE Vec least(Vec x, Vec y) { return _mm256_min_ps(x, y); }
    QUANTLOUPE_TILE_INLINE Vec largest(Vec x, Vec y) { return _mm256_max_ps(x, y); }
};

QUANTLOUPE_TILE void multiply(const TileArguments& a) {
    switch (a.rows) {
        case 1:
            return multiplyTile<Avx2, 1>(a);
        case 2:
            return multiplyTile<Avx2, 2>(a);
        case 3:
            return multiplyTile<Avx2, 3>(a);
        case 4:
            return multiplyTile<Avx2, 4>(a);
        case 5:
            return multiplyTile<Avx2, 5>(a);
        default:
            return multiplyTile<Avx2, 6>(a);
    }
}

QUANTLOUPE_TILE void multiplyInLanes(const LaneArguments& a) { multiplyLanes<Avx2>(a); }

QUANTLOUPE_TILE void depthwise(const DepthwiseArguments& a) { depthwisePixels<Avx2>(a); }

QUANTLOUPE_TILE void curve(const CurveArguments& a) { applyAnyCurve<Avx2>(a); }

QUANTLOUPE_TILE void interleave(const InterleaveArguments& a) { interleavePixels<FourByFour>(a); }

}  // namespace

const Tiles* avx2Tiles() {
    static constexpr Tiles kTiles{6,         2 * Avx2::kWidth, multiply, multiplyInLanes,
                                  depthwise, interleave,       curve};
    return instructionSets().avx2 ? &kTiles : nullptr;
}

#else

const Tiles* avx2Tiles() { return nullptr; }

#endif

}  // namespace quantloupe
