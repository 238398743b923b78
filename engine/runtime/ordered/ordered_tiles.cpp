// SPDX-License-Identifier: Apache-2.0
#include "runtime/ordered/ordered_tiles.h"

#define QUANTLOUPE_TILE
#include "runtime/ordered/curve_loops.h"
#include "runtime/ordered/depthwise_loops.h"

namespace quantloupe {
namespace {

using Plain = PlainIsa<8>;

void multiply(const TileArguments& a) {
    switch (a.rows) {
        case 1:
            return multiplyTile<Plain, 1>(a);
        case 2:
            return multiplyTile<Plain, 2>(a);
        case 3:
            return multiplyTile<Plain, 3>(a);
        default:
            return multiplyTile<Plain, 4>(a);
    }
}

void multiplyInLanes(const LaneArguments& a) { multiplyLanes<Plain>(a); }

void depthwise(const DepthwiseArguments& a) { depthwisePixels<Plain>(a); }

void curve(const CurveArguments& a) { applyAnyCurve<Plain>(a); }

void interleave(const InterleaveArguments& a) { interleavePixels<Plain>(a); }

}  // namespace

const Tiles& portableTiles() {
    static constexpr Tiles kTiles{4,         2 * Plain::kWidth, multiply, multiplyInLanes,
                                  depthwise, interleave,        curve};
    return kTiles;
}

const Tiles& tiles() {
    static const Tiles& best = avx512Tiles() != nullptr ? *avx512Tiles()
                               : avx2Tiles() != nullptr ? *avx2Tiles()
                                                        : portableTiles();
    return best;
}

}  // namespace quantloupe
