// SPDX-License-Identifier: Apache-2.0
#include "runtime/ordered/matrix_product.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {

std::size_t orderedBlock(std::size_t columns, std::size_t inner) {
    // A panel of 128 columns by 128 products; deeper if there are fewer columns.
    std::size_t width = 128, depth = 128;
    if (columns >= inner) return depth;
    while (width > 16 && width / 2 >= columns) {
        depth *= 2;
        width /= 2;
    }
    return depth;
}

std::size_t paddedColumns(std::size_t columns) {
    const std::size_t width = tiles().columns;
    return (columns + width - 1) / width * width;
}

AlignedVector<float> paddedToPanels(std::span<const float> values) {
    AlignedVector<float> padded(values.empty() ? 0 : paddedColumns(values.size()), 0.0f);
    std::ranges::copy(values, padded.begin());
    return padded;
}

std::size_t rowsTogether(std::size_t inner, std::size_t columns) {
    // If the panels fit into the L2 cache, a small number of rows leaves space for them. Otherwise, with more
    // rows, the panels are read from memory less often.
    constexpr std::size_t kFewRows = 96, kSmallPanels = std::size_t{1} << 17,
                          kRowFloats = std::size_t{1} << 18;
    if (inner * columns <= kSmallPanels) return kFewRows;
    return std::clamp(kRowFloats / inner, kFewRows / 2, kMostRowsTogether);
}

std::size_t panelFloats(std::size_t inner, std::size_t columns) { return inner * paddedColumns(columns); }

void packPanels(const MatrixView& right, std::size_t inner, std::size_t columns, float* packed) {
    const std::size_t width = tiles().columns;
    for (std::size_t first = 0; first < columns; first += width, packed += inner * width) {
        const std::size_t count = std::min(width, columns - first);
        if (!right.transposed) {
            for (std::size_t k = 0; k < inner; ++k) {
                std::memcpy(packed + k * width, right.values + k * right.stride + first,
                            count * sizeof(float));
                std::fill(packed + k * width + count, packed + (k + 1) * width, 0.0f);
            }
            continue;
        }
        if (count < width) std::fill_n(packed, inner * width, 0.0f);
        const float* rows[kMaxTileColumns];
        for (std::size_t c = 0; c < count; ++c) rows[c] = right.values + (first + c) * right.stride;
        // The lines of `packed` that these products need stay in the cache.
        constexpr std::size_t kTogether = 64;
        for (std::size_t k = 0; k < inner; k += kTogether) {
            tiles().interleave({rows, count, std::min(kTogether, inner - k), packed + k * width, width});
            for (std::size_t c = 0; c < count; ++c) rows[c] += kTogether;
        }
    }
}

std::shared_ptr<const AlignedVector<float>> sharedPanels(const Constant& right, bool transposed,
                                                         std::size_t inner, std::size_t columns) {
    using Panels = std::shared_ptr<const AlignedVector<float>>;
    static std::mutex mutex;
    static std::unordered_map<Version, std::weak_ptr<const AlignedVector<float>>> known;
    const Version version = VersionBuilder()
                                .add(right.version())
                                .add(transposed)
                                .add(inner)
                                .add(columns)
                                .add(tiles().columns)
                                .finish();
    const auto find = [&]() -> Panels {
        const auto found = known.find(version);
        return found == known.end() ? nullptr : found->second.lock();
    };
    {
        const std::lock_guard lock(mutex);
        if (Panels panels = find()) return panels;
    }
    auto packed = std::make_shared<AlignedVector<float>>(panelFloats(inner, columns));
    packPanels({right.floats().data(), transposed ? inner : columns, transposed}, inner, columns,
               packed->data());
    const std::lock_guard lock(mutex);
    if (Panels panels = find()) return panels;  // another thread was faster
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    known[version] = packed;
    return packed;
}

EvenParts rowTiles(std::size_t rows) { return {rows, tiles().rows}; }

namespace {

/// Prefetches a tile of a large result, so that its stores do not wait for memory at the end of the tile.
void prefetchResult(const TileArguments& tile) {
    for (std::size_t r = 0; r < tile.rows; ++r)
        for (std::size_t c = 0; c < tile.columns; c += kLineFloats)
            __builtin_prefetch(tile.result + r * tile.resultStride + c, 1);
}

/// The tiles of some rows of a product: the rows of the tile, and where its left factors start.
class LeftTiles {
  public:
    LeftTiles(const PackedProduct& p, std::size_t begin, std::size_t end)
        : m_product(p),
          m_begin(begin),
          m_parts(p.lineStarts == nullptr ? end - begin : p.lineRows, tiles().rows),
          m_count(p.lineStarts == nullptr ? m_parts.parts()
                                          : m_parts.parts() * ((end - begin) / p.lineRows)) {}
    std::size_t count() const { return m_count; }
    /// Sets rows, left factors and their step; returns the first row.
    std::size_t locate(std::size_t i, std::size_t k, TileArguments& tile) const {
        const PackedProduct& p = m_product;
        const std::size_t line = p.lineStarts == nullptr ? 0 : i / m_parts.parts(),
                          part = i - line * m_parts.parts();
        const std::size_t within = m_parts.begin(part);
        tile.rows = m_parts.begin(part + 1) - within;
        if (p.interleaved) tile.step = tile.rows;
        const std::size_t row = m_begin + line * p.lineRows + within;
        if (p.lineStarts == nullptr)
            tile.left = p.left + row * (p.interleaved ? p.inner : p.leftStride) + k * tile.step;
        else
            tile.left = p.left + p.lineStarts[line] + within * p.leftStride + (p.offsets == nullptr ? k : 0);
        return row;
    }

  private:
    const PackedProduct& m_product;
    std::size_t m_begin;
    EvenParts m_parts;
    std::size_t m_count;
};

}  // namespace

void multiplyPacked(const PackedProduct& p) {
    constexpr std::size_t kCachedFloats = std::size_t{1} << 16;
    const Tiles& best = tiles();
    alignas(64) float kept[kMostRowsTogether * kMaxTileColumns];
    TileArguments tile;
    tile.rowStride = p.interleaved ? 1 : p.leftStride;
    tile.step = p.leftStep;
    tile.alpha = p.alpha;
    tile.low = p.bounds.low;
    tile.high = p.bounds.high;
    tile.resultStride = p.resultStride;
    const bool largeResult = p.rows * p.resultStride > kCachedFloats;
    // A block of a panel stays in the L1 cache while the rows are processed, the rows stay in the L2 cache
    // while the panels are.
    const EvenParts groups(p.rows,
                           p.lineStarts != nullptr ? kMostRowsTogether : rowsTogether(p.inner, p.columns));
    for (std::size_t group = 0; group < groups.parts(); ++group) {
        const std::size_t begin = groups.begin(group);
        const LeftTiles rows(p, begin, groups.begin(group + 1));
        for (std::size_t column = 0; column < p.columns; column += best.columns) {
            tile.columns = std::min(best.columns, p.columns - column);
            tile.start = p.start == nullptr ? nullptr : p.start + column;
            tile.bias = p.bias == nullptr ? nullptr : p.bias + column;
            tile.factor = p.factor == nullptr ? nullptr : p.factor + column;
            tile.offset = p.offset == nullptr ? nullptr : p.offset + column;
            for (std::size_t k = 0; k == 0 || k < p.inner; k += p.block) {
                tile.right = p.panels + column * p.inner + k * best.columns;
                tile.inner = std::min(p.block, p.inner - k);
                tile.first = k == 0;
                tile.last = p.inner - k <= p.block;
                // The next block of the panels follows in memory; each tile prefetches a part of it.
                const std::size_t length = tile.inner * best.columns;
                const std::size_t chunks = (tile.inner + kTileChunk - 1) / kTileChunk;
                const bool more = !tile.last || column + best.columns < p.columns;
                const std::size_t visits = std::max<std::size_t>(1, rows.count() * chunks);
                tile.fetchedLines = more ? (length / kLineFloats + visits - 1) / visits : 0;
                tile.fetched = tile.right + length;
                tile.offsets = p.offsets == nullptr ? nullptr : p.offsets + k;
                for (std::size_t i = 0; i < rows.count(); ++i) {
                    const std::size_t row = rows.locate(i, k, tile);
                    tile.kept = kept + (row - begin) * best.columns;
                    tile.result = p.result + row * p.resultStride + column;
                    if (tile.last && largeResult) prefetchResult(tile);
                    best.multiply(tile);
                    tile.fetched += tile.fetchedLines * kLineFloats * chunks;
                }
            }
        }
    }
}

void multiplyPackedInLanes(const PackedProduct& p) {
    const Tiles& best = tiles();
    LaneArguments lanes;
    const EvenParts together = rowTiles(p.rows);
    std::size_t tile = 0;
    lanes.inner = p.inner;
    lanes.low = p.bounds.low;
    lanes.high = p.bounds.high;
    for (std::size_t row = 0; row < p.rows; ++row) {
        if (row == together.begin(tile + 1)) ++tile;
        const std::size_t first = together.begin(tile), rows = together.begin(tile + 1) - first;
        lanes.step = p.interleaved ? rows : p.leftStep;
        lanes.left = p.left + (p.interleaved ? first * p.inner + (row - first) : row * p.leftStride);
        for (std::size_t column = 0; column < p.columns; column += best.columns) {
            lanes.right = p.panels + column * p.inner;
            lanes.bias = p.bias == nullptr ? nullptr : p.bias + column;
            lanes.factor = p.factor == nullptr ? nullptr : p.factor + column;
            lanes.offset = p.offset == nullptr ? nullptr : p.offset + column;
            lanes.result = p.result + row * p.resultStride + column;
            lanes.columns = std::min(best.columns, p.columns - column);
            best.multiplyInLanes(lanes);
        }
    }
}

PackedMatrix::PackedMatrix(const MatrixView& right, std::size_t inner, std::size_t columns)
    : m_inner(inner), m_columns(columns), m_panels(panelFloats(inner, columns)) {
    packPanels(right, inner, columns, m_panels.data());
}

void PackedMatrix::multiply(const MatrixView& left, std::size_t rows, float* result) const {
    PackedProduct product;
    product.left = left.values;
    product.leftStride = left.transposed ? 1 : left.stride;
    product.leftStep = left.transposed ? left.stride : 1;
    product.rows = rows;
    product.inner = m_inner;
    product.panels = m_panels.data();
    product.columns = m_columns;
    product.block = orderedBlock(m_columns, m_inner);
    product.result = result;
    product.resultStride = m_columns;
    multiplyPacked(product);
}

void multiply(const MatrixView& left, const MatrixView& right, std::size_t rows, std::size_t inner,
              std::size_t columns, float* result) {
    PackedMatrix(right, inner, columns).multiply(left, rows, result);
}

}  // namespace quantloupe
