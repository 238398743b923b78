// SPDX-License-Identifier: Apache-2.0
// AMX: 32 rows times two panels are four tiles of 16 x 16 sums.
#if defined(__x86_64__)
#include "runtime/integer/segment_tiles_avx512.h"
#include "runtime/x86_intrinsics.h"

#define QUANTLOUPE_AMX __attribute__((target("amx-tile,amx-int8")))

namespace quantloupe {
namespace {

/// The operand of ldtilecfg.
struct alignas(64) TileConfig {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t rowBytes[16] = {};
    std::uint8_t rows[16] = {};
};

constexpr TileConfig config() {
    TileConfig all;
    for (std::size_t tile = 0; tile < 8; ++tile) all.rowBytes[tile] = 64, all.rows[tile] = 16;
    return all;
}
constexpr TileConfig kConfig = config();

constexpr std::size_t kTileRows = 16, kTileWeights = kBlockDepth * kSegmentPanel,
                      kSumStride = kSegmentColumns * sizeof(std::int32_t);

QUANTLOUPE_AMX void begin() { _tile_loadconfig(&kConfig); }
QUANTLOUPE_AMX void end() { _tile_release(); }

// Tiles 0 to 3 contain sums, 4 and 5 codes, 6 and 7 weights. Loading sums with a stride of 0 repeats the
// offsets in all rows.

QUANTLOUPE_AMX void addFour(const SegmentTile& t) {
    _tile_loadd(0, t.offset, 0);
    _tile_loadd(1, t.offset + kSegmentPanel, 0);
    _tile_loadd(2, t.offset, 0);
    _tile_loadd(3, t.offset + kSegmentPanel, 0);
    const std::int8_t* weight = t.weight;
    for (const DepthBlock& block : t.blocks) {
        const std::uint8_t* rows = t.rows + block.offset;
        _tile_loadd(6, weight, 64);
        _tile_loadd(4, rows, t.stride);
        _tile_dpbusd(0, 4, 6);
        _tile_loadd(7, weight + kTileWeights, 64);
        _tile_dpbusd(1, 4, 7);
        _tile_loadd(5, rows + kTileRows * t.stride, t.stride);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
        weight += 2 * kTileWeights;
    }
    _tile_stored(0, t.sums, kSumStride);
    _tile_stored(1, t.sums + kSegmentPanel, kSumStride);
    _tile_stored(2, t.sums + kTileRows * kSegmentColumns, kSumStride);
    _tile_stored(3, t.sums + kTileRows * kSegmentColumns + kSegmentPanel, kSumStride);
}

/// 16 rows, two panels.
QUANTLOUPE_AMX void addBeside(const SegmentTile& t) {
    _tile_loadd(0, t.offset, 0);
    _tile_loadd(1, t.offset + kSegmentPanel, 0);
    const std::int8_t* weight = t.weight;
    for (const DepthBlock& block : t.blocks) {
        _tile_loadd(4, t.rows + block.offset, t.stride);
        _tile_loadd(6, weight, 64);
        _tile_dpbusd(0, 4, 6);
        _tile_loadd(7, weight + kTileWeights, 64);
        _tile_dpbusd(1, 4, 7);
        weight += 2 * kTileWeights;
    }
    _tile_stored(0, t.sums, kSumStride);
    _tile_stored(1, t.sums + kSegmentPanel, kSumStride);
}

/// 16 or 32 rows, one panel.
QUANTLOUPE_AMX void addBelow(const SegmentTile& t) {
    _tile_loadd(0, t.offset, 0);
    _tile_loadd(2, t.offset, 0);
    const std::int8_t* weight = t.weight;
    const bool both = t.count > kTileRows;
    for (const DepthBlock& block : t.blocks) {
        const std::uint8_t* rows = t.rows + block.offset;
        _tile_loadd(6, weight, 64);
        _tile_loadd(4, rows, t.stride);
        _tile_dpbusd(0, 4, 6);
        if (both) {
            _tile_loadd(5, rows + kTileRows * t.stride, t.stride);
            _tile_dpbusd(2, 5, 6);
        }
        weight += kTileWeights;
    }
    _tile_stored(0, t.sums, kSumStride);
    _tile_stored(2, t.sums + kTileRows * kSegmentColumns, kSumStride);
}

void add(const SegmentTile& t) {
    if (t.panels == 1) return addBelow(t);
    t.count > kTileRows ? addFour(t) : addBeside(t);
}

}  // namespace

const SegmentTiles& amxSegmentTiles() {
    static const SegmentTiles tiles{"AMX", 2 * kTileRows, kTileRows, begin, end, add, storeSegmentsAvx512};
    return tiles;
}

}  // namespace quantloupe
#endif
