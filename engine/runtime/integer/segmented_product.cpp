// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/segmented_product.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.h"

namespace quantloupe {
namespace {

/// Rows whose codes stay in the L1 cache while all columns are computed.
constexpr std::size_t kNearBytes = std::size_t{24} << 10;

std::vector<DepthBlock> blocksOf(const SegmentedProduct::Shape& shape) {
    std::vector<DepthBlock> blocks;
    for (const std::ptrdiff_t segment : shape.segments)
        for (std::size_t k = 0; k < shape.segmentDepth; k += kBlockDepth)
            blocks.push_back({segment + static_cast<std::ptrdiff_t>(k),
                              (std::min(kBlockDepth, shape.segmentDepth - k) + 3) / 4});
    return blocks;
}

/// [column tile][block][panel][16][16 columns][4 depths], zero where there is no weight.
AlignedVector<std::int8_t> pack(std::span<const std::int8_t> weight, const SegmentedProduct::Shape& shape) {
    const std::size_t blocksPerSegment = (shape.segmentDepth + kBlockDepth - 1) / kBlockDepth,
                      blocks = blocksPerSegment * shape.segments.size(),
                      panels = (shape.columns + kSegmentPanel - 1) / kSegmentPanel;
    constexpr std::size_t kPanelBlock = kBlockDepth * kSegmentPanel;
    AlignedVector<std::int8_t> packed(panels * blocks * kPanelBlock);
    const std::int8_t* from = weight.data();
    for (std::size_t segment = 0; segment < shape.segments.size(); ++segment)
        for (std::size_t k = 0; k < shape.segmentDepth; ++k, from += shape.columns) {
            const std::size_t block = segment * blocksPerSegment + k / kBlockDepth, inBlock = k % kBlockDepth;
            for (std::size_t panel = 0; panel < panels; ++panel) {
                const std::size_t first = panel / 2 * 2, together = std::min<std::size_t>(2, panels - first);
                std::int8_t* to = packed.data() +
                                  (first * blocks + block * together + panel % 2) * kPanelBlock +
                                  inBlock / 4 * 64 + inBlock % 4;
                const std::size_t column = panel * kSegmentPanel,
                                  count = std::min(kSegmentPanel, shape.columns - column);
                for (std::size_t c = 0; c < count; ++c) to[c * 4] = from[column + c];
            }
        }
    return packed;
}

}  // namespace

/// The fastest kind of tiles for a shape, measured once per process.
struct SegmentedProduct::Fastest {
    using Key = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, bool>;

    static const SegmentTiles* of(SegmentedProduct& product) {
        const std::span<const SegmentTiles* const> kinds = segmentTiles();
        if (kinds.empty()) fail(ErrorKind::Internal, "no integer kernels for this processor");
        if (kinds.size() == 1) return kinds[0];
        static std::mutex mutex;
        static std::map<Key, const SegmentTiles*> known;
        const Shape& shape = product.m_shape;
        const Key key{shape.segments.size(), shape.segmentDepth, shape.columns,
                      shape.stride,          shape.rowsAtOnce,   product.m_requantization.toFloat};
        const std::scoped_lock lock(mutex);
        if (const auto found = known.find(key); found != known.end()) return found->second;
        return known[key] = measured(product, kinds);
    }

    static const SegmentTiles* measured(SegmentedProduct& product,
                                        std::span<const SegmentTiles* const> kinds) {
        using Clock = std::chrono::steady_clock;
        constexpr std::size_t kMaxRows = 96;
        constexpr int kRounds = 4;
        const std::size_t count = std::clamp<std::size_t>(product.m_shape.rowsAtOnce, 1, kMaxRows);
        std::ptrdiff_t last = 0;
        for (const std::ptrdiff_t segment : product.m_shape.segments) last = std::max(last, segment);
        const std::vector<std::uint8_t> codes((count + kMaxSegmentRows) * product.m_shape.stride +
                                              static_cast<std::size_t>(last) + product.m_shape.segmentDepth +
                                              kSpareBytes);
        std::vector<std::byte> output(count * product.m_shape.columns * sizeof(float));
        const SegmentTiles* best = nullptr;
        auto shortest = Clock::duration::max();
        for (int round = 0; round < kRounds; ++round)  // the first ones load the weights into the cache
            for (const SegmentTiles* tiles : kinds) {
                product.m_tiles = tiles;
                const auto start = Clock::now();
                product.run({codes.data(), count, count, count}, output.data());
                const auto elapsed = Clock::now() - start;
                if (elapsed < shortest) shortest = elapsed, best = tiles;
            }
        return best;
    }
};

SegmentedProduct::SegmentedProduct(std::span<const std::int8_t> weight, Shape shape,
                                   Requantization requantization, const SegmentTiles* tiles)
    : m_shape(std::move(shape)),
      m_tiles(tiles),
      m_blocks(blocksOf(m_shape)),
      m_weight(pack(weight, m_shape)),
      m_requantization(std::move(requantization)),
      m_saturating(m_requantization.clampSaturates()) {
    const std::size_t padded = roundUp(m_shape.columns, kSegmentColumns);
    m_requantization.offset.resize(padded, 0);
    m_requantization.factor.resize(padded, 0.0f);
    if (m_tiles == nullptr) m_tiles = Fastest::of(*this);
}

void SegmentedProduct::run(const SegmentedRows& rows, void* output) const {
    const std::size_t near = std::max(
        m_tiles->rows, kNearBytes / std::max<std::size_t>(m_shape.stride, 1) / m_tiles->rows * m_tiles->rows);
    m_tiles->begin();
    for (std::size_t begin = 0; begin < rows.count; begin += near)
        runPart(rows, begin, std::min(rows.count, begin + near), static_cast<std::byte*>(output));
    m_tiles->end();
}

void SegmentedProduct::runPart(const SegmentedRows& rows, std::size_t begin, std::size_t end,
                               std::byte* output) const {
    alignas(64) std::array<std::int32_t, kMaxSegmentRows * kSegmentColumns> sums{};
    std::array<SegmentRow, kMaxSegmentRows + 1> places;
    const Requantization& how = m_requantization;
    const std::size_t element = how.toFloat ? sizeof(float) : 1;
    const std::int8_t* weight = m_weight.data();
    for (std::size_t column = 0; column < m_shape.columns; column += kSegmentColumns) {
        const std::size_t columns = std::min(kSegmentColumns, m_shape.columns - column),
                          panels = (columns + kSegmentPanel - 1) / kSegmentPanel;
        for (std::size_t first = begin; first < end; first += m_tiles->rows) {
            const std::size_t count = std::min(m_tiles->rows, end - first);
            m_tiles->add({rows.first + first * m_shape.stride, m_shape.stride, count, m_blocks, weight,
                          panels, how.offset.data() + column, sums.data()});
            std::size_t stored = 0, inLine = first % rows.pitch;
            std::byte* to =
                output + ((first / rows.pitch * rows.width + std::min(inLine, rows.width)) * m_shape.columns +
                          column) *
                             element;
            for (std::size_t r = 0; r < count; ++r) {
                if (inLine < rows.width) {
                    places[stored++] = {sums.data() + r * kSegmentColumns, to};
                    to += m_shape.columns * element;
                }
                if (++inLine == rows.pitch) inLine = 0;
            }
            if (stored % 2 != 0) places[stored] = places[stored - 1], ++stored;
            m_tiles->store({{places.data(), stored},
                            columns,
                            how.factor.data() + column,
                            how.low,
                            how.high,
                            static_cast<std::int32_t>(how.shift),
                            m_saturating,
                            how.toFloat});
        }
        weight += panels * m_blocks.size() * kBlockDepth * kSegmentPanel;
    }
}

}  // namespace quantloupe
