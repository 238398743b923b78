// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner loops of SegmentedProduct: sums of some rows of unsigned codes times up to 32 columns of signed
// weights, exact in 32 bits. Each kind is written for one instruction set that adds four products in 32 bits
// (VNNI, AMX).

#include <cstddef>
#include <cstdint>
#include <span>

namespace quantloupe {

constexpr std::size_t kSegmentPanel = 16;    ///< columns of a panel
constexpr std::size_t kSegmentColumns = 32;  ///< columns of a tile: one or two panels
constexpr std::size_t kMaxSegmentRows = 48;

/// Up to 64 consecutive depths of a row.
struct DepthBlock {
    std::ptrdiff_t offset;  ///< of the first code, relative to the start of the row
    std::size_t fours;      ///< the number of depths divided by 4, rounded up: 1 to 16
};
constexpr std::size_t kBlockDepth = 64;

struct SegmentTile {
    const std::uint8_t* rows;  ///< the first row
    std::size_t stride;        ///< bytes from one row to the next
    std::size_t count;         ///< rows, at most SegmentTiles::rows
    std::span<const DepthBlock> blocks;
    const std::int8_t* weight;   ///< [block][panel][16][16 columns][4 depths], 64-byte aligned
    std::size_t panels;          ///< 1 or 2
    const std::int32_t* offset;  ///< [panels * 16]: the initial sums
    std::int32_t* sums;          ///< [SegmentTiles::rows][32], 64-byte aligned
};

/// The place of one row's outputs.
struct SegmentRow {
    const std::int32_t* sums;  ///< [32], 64-byte aligned
    void* output;
};

/// The conversion of sums to outputs (Requantization).
struct SegmentStore {
    std::span<const SegmentRow> rows;  ///< an even number: the last row may be listed twice
    std::size_t columns;               ///< 1 to 32
    const float* factor;               ///< [32]
    float low, high;
    std::int32_t shift;
    bool saturating;  ///< the clamp is the saturation of a byte
    bool toFloat;
};

struct SegmentTiles {
    const char* name;
    std::size_t rows;   ///< of a tile
    std::size_t group;  ///< rows are computed, and must be readable, up to the next multiple of `group`
    void (*begin)();    ///< call before the tiles of a run, on its thread; AMX: loads the tile configuration
    void (*end)();      ///< call after them; AMX: releases it
    void (*add)(const SegmentTile&);
    void (*store)(const SegmentStore&);
};

/// With all kinds of tiles, DepthBlocks must be readable for 64 bytes.
const SegmentTiles& avxVnniSegmentTiles();
const SegmentTiles& avx512VnniSegmentTiles();
const SegmentTiles& amxSegmentTiles();

/// Returns the tiles that this processor supports and instructionSets() allows; empty without VNNI. If there
/// are several, the fastest one depends on the shape.
std::span<const SegmentTiles* const> segmentTiles();

}  // namespace quantloupe
