// SPDX-License-Identifier: Apache-2.0
// Matrix products and depthwise convolutions give the same bits on every processor: compares each kind of
// tile that this processor can run with a sequential sum.
#include "runtime/ordered/ordered_tiles.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/random_seed.h"

using namespace quantloupe;

namespace {

std::vector<const Tiles*> allTiles() {
    std::vector<const Tiles*> all{&portableTiles()};
    for (const Tiles* tiles : {avx2Tiles(), avx512Tiles()})
        if (tiles != nullptr) all.push_back(tiles);
    return all;
}

float bounded(float x, float low, float high) { return std::min(std::max(x, low), high); }

}  // namespace

class OrderedTilesTest : public QObject {
    Q_OBJECT

    std::mt19937 m_random{test::randomSeed()};

    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(m_random); }
    std::size_t size(int least, int most) { return static_cast<std::size_t>(pick(least, most)); }
    std::vector<float> values(std::size_t count) {
        std::normal_distribution<float> normal;
        std::vector<float> result(count);
        for (float& value : result) value = normal(m_random);
        return result;
    }

  private Q_SLOTS:
    void products() {
        for (int round = 0; round < 400; ++round)
            for (const Tiles* tiles : allTiles()) {
                const std::size_t rows = size(1, static_cast<int>(tiles->rows)),
                                  columns = size(1, static_cast<int>(tiles->columns));
                const std::size_t inner = size(0, 70), block = size(1, 70);
                const bool scattered = pick(0, 2) == 0, interleaved = !scattered && pick(0, 1) == 1;
                const std::size_t stride = interleaved ? 1 : inner + size(0, 9),
                                  step = interleaved ? rows + size(0, 3) : 1;
                const auto left = values(rows * stride + inner * step),
                           right = values((inner + 1) * tiles->columns);
                std::vector<std::uint32_t> offsets;
                for (std::size_t k = 0; k < inner; ++k)
                    offsets.push_back(static_cast<std::uint32_t>(size(
                        0, static_cast<int>(inner * rows) - static_cast<int>(inner > 0 ? rows - 1 : 0))));
                const auto start = values(tiles->columns), bias = values(tiles->columns),
                           factor = values(tiles->columns), offset = values(tiles->columns);
                const bool scaled = pick(0, 1) == 1, bounds = pick(0, 3) > 0;
                const bool starts = pick(0, 1) == 1, biased = pick(0, 1) == 1;
                const float infinity = std::numeric_limits<float>::infinity();
                const float alpha = pick(0, 1) == 1 ? 1.0f : 0.3f,
                            low = !bounds           ? -infinity
                                  : pick(0, 1) == 1 ? -0.5f
                                                    : -100.0f,
                            high = bounds ? 2.5f : infinity;
                std::vector<float> kept(rows * tiles->columns), result(rows * columns, -77.0f);
                TileArguments tile;
                tile.rowStride = stride;
                tile.step = step;
                tile.rows = rows;
                tile.columns = columns;
                tile.alpha = alpha;
                tile.start = starts ? start.data() : nullptr;
                tile.kept = kept.data();
                tile.bias = biased ? bias.data() : nullptr;
                tile.factor = scaled ? factor.data() : nullptr;
                tile.offset = scaled ? offset.data() : nullptr;
                tile.fetched = right.data();
                tile.fetchedLines = size(0, 2);
                tile.low = low;
                tile.high = high;
                tile.result = result.data();
                tile.resultStride = columns;
                for (std::size_t k = 0; k == 0 || k < inner; k += block) {
                    tile.left = scattered ? left.data() : left.data() + k * step;
                    tile.offsets = scattered ? offsets.data() + k : nullptr;
                    tile.right = right.data() + k * tiles->columns;
                    tile.inner = std::min(block, inner - k);
                    tile.first = k == 0;
                    tile.last = inner - k <= block;
                    tiles->multiply(tile);
                }

                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t c = 0; c < columns; ++c) {
                        float expected = starts ? start[c] : 0.0f;
                        for (std::size_t begin = 0; begin == 0 || begin < inner; begin += block) {
                            float sum = 0;
                            for (std::size_t k = begin; k < std::min(inner, begin + block); ++k)
                                sum = std::fma(left[scattered ? offsets[k] + r : r * stride + k * step],
                                               right[k * tiles->columns + c], sum);
                            expected = begin == 0 && !starts ? sum * alpha : std::fma(sum, alpha, expected);
                        }
                        if (biased) expected += bias[c];
                        if (scaled) expected = expected * factor[c] + offset[c];
                        QCOMPARE(std::bit_cast<std::uint32_t>(result[r * columns + c]),
                                 std::bit_cast<std::uint32_t>(bounded(expected, low, high)));
                    }
            }
    }

    void lanes() {
        for (int round = 0; round < 400; ++round)
            for (const Tiles* tiles : allTiles()) {
                const std::size_t columns = size(1, static_cast<int>(tiles->columns)), inner = size(1, 70),
                                  step = size(1, 3);
                const auto left = values(inner * step), right = values(inner * tiles->columns),
                           bias = values(tiles->columns), factor = values(tiles->columns),
                           offset = values(tiles->columns);
                const bool scaled = pick(0, 1) == 1;
                std::vector<float> result(columns);
                LaneArguments row;
                row.left = left.data();
                row.step = step;
                row.right = right.data();
                row.inner = inner;
                row.bias = bias.data();
                row.factor = scaled ? factor.data() : nullptr;
                row.offset = scaled ? offset.data() : nullptr;
                row.low = -1.0f;
                row.high = 1.5f;
                row.result = result.data();
                row.columns = columns;
                tiles->multiplyInLanes(row);
                for (std::size_t c = 0; c < columns; ++c) {
                    float lanes[8] = {};
                    for (std::size_t k = 0; k < inner; ++k)
                        lanes[k % 8] += left[k * step] * right[k * tiles->columns + c];
                    const float sum = (((lanes[0] + lanes[1]) + lanes[2]) + lanes[3]) +
                                      (((lanes[4] + lanes[5]) + lanes[6]) + lanes[7]);
                    float expected = sum + bias[c];
                    if (scaled) expected = expected * factor[c] + offset[c];
                    QVERIFY(result[c] == bounded(expected, row.low, row.high));
                }
            }
    }

    void interleaving() {
        for (int round = 0; round < 400; ++round)
            for (const Tiles* tiles : allTiles()) {
                const std::size_t rows = size(1, static_cast<int>(tiles->rows)), channels = size(1, 40),
                                  step = rows + size(0, 20);
                const auto pixels = values(rows * channels);
                std::vector<const float*> from;
                for (std::size_t r = 0; r < rows; ++r) from.push_back(pixels.data() + r * channels);
                std::vector<float> to((channels - 1) * step + rows, -77.0f);
                tiles->interleave({from.data(), rows, channels, to.data(), step});
                for (std::size_t i = 0; i < to.size(); ++i)
                    QCOMPARE(to[i], i % step < rows ? pixels[i % step * channels + i / step] : -77.0f);
            }
    }

    void depthwise() {
        for (int round = 0; round < 400; ++round) {
            const std::size_t counts[] = {9, 25, size(1, 27)};
            const std::size_t products = counts[pick(0, 2)], channels = size(1, 70), pixels = size(1, 20),
                              step = size(0, 90);
            const auto in = values(products * channels + pixels * step), weight = values(products * channels),
                       bias = values(channels), factor = values(channels), offset = values(channels);
            const bool scaled = pick(0, 1) == 1;
            std::vector<const float*> taps;
            for (std::size_t t = 0; t < products; ++t) taps.push_back(in.data() + t * channels);
            DepthwiseArguments run;
            run.taps = taps.data();
            run.step = step;
            run.pixels = pixels;
            run.weight = weight.data();
            run.products = products;
            run.channels = channels;
            run.bias = round % 2 == 0 ? bias.data() : nullptr;
            run.factor = scaled ? factor.data() : nullptr;
            run.offset = scaled ? offset.data() : nullptr;
            run.low = -1.0f;
            run.high = 1.5f;
            std::vector<float> expected;
            for (std::size_t i = 0; i < pixels * channels; ++i) {
                const std::size_t c = i % channels;
                const auto product = [&](std::size_t t) {
                    return taps[t][i / channels * step + c] * weight[t * channels + c];
                };
                float sum = 0;
                std::size_t t = 0;
                for (; t + 4 <= products; t += 4)
                    sum = (((product(t) + product(t + 1)) + product(t + 2)) + product(t + 3)) + sum;
                if (t + 2 <= products) sum = (product(t) + product(t + 1)) + sum, t += 2;
                if (t < products) sum = product(t) + sum;
                if (run.bias != nullptr) sum += bias[c];
                if (scaled) sum = sum * factor[c] + offset[c];
                expected.push_back(bounded(sum, run.low, run.high));
            }
            for (const Tiles* tiles : allTiles()) {
                std::vector<float> result(pixels * channels);
                run.result = result.data();
                tiles->depthwise(run);
                QCOMPARE(result, expected);
            }
        }
    }
};

QTEST_GUILESS_MAIN(OrderedTilesTest)
#include "ordered_tiles_test.moc"
