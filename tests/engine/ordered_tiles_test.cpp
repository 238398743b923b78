// SPDX-License-Identifier: Apache-2.0
// Matrix products and depthwise convolutions give the same bits on every processor: compares each kind of
// tile that this processor can run with a sequential sum.
#include "runtime/ordered/ordered_tiles.h"

#include <QtTest>
#include <algorithm>
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

/// All NaNs are the same.
bool sameBits(const std::vector<float>& found, const std::vector<float>& expected) {
    return std::ranges::equal(found, expected, [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
               (std::isnan(x) && std::isnan(y));
    });
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

    /// Sigmoid, tanh and Swish: ONNX Runtime 1.32 computed the expected bits, and all tiles agree on any
    /// values.
    void curves() {
        const std::vector<float> given = {-100,  -17.5f, -8.5f, -3.25f, -0.3f, -1e-5f, 0,
                                          0.01f, 0.7f,   1.9f,  4.4f,   8.9f,  17.9f,  60};
        const std::pair<CurveArguments, std::vector<float>> known[] = {
            {{Curve::Sigmoid},
             {0x0p+0f, 0x1p-25f, 0x1.aab000p-13f, 0x1.31c820p-5f, 0x1.b3c558p-2f, 0x1.ffff58p-2f, 0x1p-1f,
              0x1.0147aep-1f, 0x1.561cb4p-1f, 0x1.bd626cp-1f, 0x1.f9ca4cp-1f, 0x1.ffee20p-1f, 0x1p+0f,
              0x1p+0f}},
            {{Curve::Tanh},
             {-0x1p+0f, -0x1p+0f, -0x1.fffffcp-1f, -0x1.fe767cp-1f, -0x1.2a4ddap-2f, -0x1.4f8b56p-17f,
              0x0p+0f, 0x1.47ab46p-7f, 0x1.356fb2p-1f, 0x1.e997f6p-1f, 0x1.ffd87cp-1f, 0x1p+0f, 0x1p+0f,
              0x1p+0f}},
            {{Curve::Swish, 1.702f},
             {-0x0p+0f, -0x0p+0f, -0x1.210000p-18f, -0x1.a410d0p-7f, -0x1.ccdd70p-4f, -0x1.4f8a9cp-18f,
              0x0p+0f, 0x1.4a77eep-8f, 0x1.12e3c4p-1f, 0x1.d3f57cp+0f, 0x1.19714ep+2f, 0x1.1cccc8p+3f,
              0x1.1e6666p+4f, 0x1.e00000p+5f}}};
        std::vector<float> any = values(1000);
        for (float& value : any) value *= 6;
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        any.insert(any.end(),
                   {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40f, -0.0f});
        for (const auto& [curve, expected] : known) {
            std::vector<float> first;
            for (const Tiles* tiles : allTiles()) {
                CurveArguments a = curve;
                std::vector<float> found = given;
                a.in = a.out = found.data();  // in place
                a.count = found.size();
                tiles->curve(a);
                QVERIFY(sameBits(found, expected));
                found.assign(any.size() + 1, 7);
                a.in = any.data();
                a.out = found.data();
                a.count = any.size();
                tiles->curve(a);
                QCOMPARE(found.back(), 7.0f);
                if (first.empty()) first = found;
                QVERIFY(sameBits(found, first));
            }
            QVERIFY(std::isnan(first[1002]));
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
