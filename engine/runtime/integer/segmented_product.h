// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product of unsigned 8-bit codes and signed weights of up to 8 bits, summed exactly in 32 bits, with
// the instructions that add four products in 32 bits (segment_tiles.h). The depth of a row may consist of
// several segments of memory: a convolution reads its windows in place.

#include <vector>

#include "runtime/aligned.h"
#include "runtime/integer/integer_product.h"
#include "runtime/integer/segment_tiles.h"

namespace quantloupe {

/// The rows of a product: row r starts r * stride bytes after the first row. Of every `pitch` rows, the first
/// `width` have an output; the others only exist because the rows of an image are padded.
struct SegmentedRows {
    const std::uint8_t* first;
    std::size_t count;
    std::size_t pitch, width;
};

class SegmentedProduct {
  public:
    /// The position of a row's depth in memory: equally long segments, relative to the start of the row.
    struct Shape {
        std::vector<std::ptrdiff_t> segments{0};
        std::size_t segmentDepth;
        std::size_t columns;
        std::size_t stride;      ///< bytes from one row to the next
        std::size_t rowsAtOnce;  ///< rows of a typical run(), to choose the fastest kind of tiles
    };
    /// `weight` is row-major [segments * segment depth, columns] with values in -128..127. `tiles`: null for
    /// the fastest kind, which is measured once per shape and process. Throws Error if segmentTiles() is
    /// empty.
    SegmentedProduct(std::span<const std::int8_t> weight, Shape shape, Requantization requantization,
                     const SegmentTiles* tiles = nullptr);

    std::size_t columns() const { return m_shape.columns; }
    std::size_t weightBytes() const { return m_weight.size(); }
    const SegmentTiles& tiles() const { return *m_tiles; }
    /// The number of rows beyond the given ones that must be readable, and the number of bytes after the
    /// segments of the last of them. Their values are ignored.
    std::size_t spareRows() const { return m_tiles->group - 1; }
    static constexpr std::size_t kSpareBytes = kBlockDepth;

    /// The outputs of a row follow those of the previous row that has outputs.
    void run(const SegmentedRows& rows, void* output) const;

  private:
    struct Fastest;
    void runPart(const SegmentedRows& rows, std::size_t begin, std::size_t end, std::byte* output) const;

    Shape m_shape;
    const SegmentTiles* m_tiles;
    std::vector<DepthBlock> m_blocks;
    AlignedVector<std::int8_t> m_weight;
    Requantization m_requantization;  ///< padded to whole tiles
    bool m_saturating = false;
};

}  // namespace quantloupe
