// SPDX-License-Identifier: Apache-2.0
// The distribution of values over bins, codes and channels.
#include "analysis/distribution.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/channel_ranges.h"
#include "analysis/code_usage.h"
#include "base/error.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Numbers>
QString show(const Numbers& numbers) {
    QStringList texts;
    for (const auto number : numbers) texts << QString::number(number);
    return texts.join(' ');
}

QString show(const std::vector<ChannelRange>& ranges) {
    QStringList texts;
    for (const ChannelRange& range : ranges) texts << QString("[%1 %2]").arg(range.min).arg(range.max);
    return texts.join(' ');
}

}  // namespace

class DistributionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void valuesFallIntoBins() {
        Distribution spread(0, 4, 4);
        const std::vector<float> values = {-0.5f, 0, 0.99f, 1, 2.5f, 3.9f, 4, 4.1f, 9};
        spread.add(values.data(), values.size());
        QCOMPARE(show(spread.bins()), QString("2 1 1 2"));  // the last bin includes its upper edge
        QCOMPARE(spread.below(), 1u);
        QCOMPARE(spread.above(), 2u);
        QCOMPARE(spread.count(), 9u);
        QCOMPARE(spread.min(), -0.5);
        QCOMPARE(spread.max(), 9.0);
    }

    void moments() {
        Distribution spread(0, 10, 2);
        const std::vector<float> values = {2, 4, 4, 4, 5, 5, 7, 9};  // mean 5, squares' mean 29
        spread.add(values.data(), values.size());
        QCOMPARE(spread.mean(), 5.0);
        QCOMPARE(spread.deviation(), 2.0);
    }

    void nonFiniteValuesAreCountedSeparately() {
        Distribution spread(0, 1, 1);
        const std::vector<float> values = {kNan, kInfinity, -kInfinity, 0.5f};
        spread.add(values.data(), values.size());
        QCOMPARE(spread.notFinite(), 3u);
        QCOMPARE(spread.count(), 1u);
        QCOMPARE(spread.mean(), 0.5);
        QCOMPARE(spread.above() + spread.below(), 0u);
    }

    void emptyDistributionHasNoMoments() {
        const Distribution empty(0, 1, 3);
        QVERIFY(std::isnan(empty.min()) && std::isnan(empty.max()));
        QVERIFY(std::isnan(empty.mean()) && std::isnan(empty.deviation()));
    }

    void mergedPiecesEqualTheWhole() {
        std::mt19937 random(test::randomSeed());
        std::vector<float> values(5000);
        // dyadic: sums are exact
        for (float& value : values) value = float(int(random() % 4001) - 2000) / 256;
        Distribution whole(-5, 5, 64), pieces(-5, 5, 64);
        whole.add(values.data(), values.size());
        for (std::size_t at = 0; at < values.size(); at += 500) {
            Distribution piece(-5, 5, 64);
            piece.add(values.data() + at, 500);
            pieces.merge(piece);
        }
        QCOMPARE(show(pieces.bins()), show(whole.bins()));
        QCOMPARE(pieces.mean(), whole.mean());
        QCOMPARE(pieces.deviation(), whole.deviation());
        QCOMPARE(pieces.min(), whole.min());
        QCOMPARE(pieces.above(), whole.above());
        std::uint64_t sum = whole.below() + whole.above();
        for (const std::uint64_t n : whole.bins()) sum += n;
        QCOMPARE(sum, std::uint64_t{5000});
    }

    void oddRanges() {
        Distribution point(3, 3, 2);
        const float three = 3;
        point.add(&three, 1);
        QCOMPARE(show(point.bins()), QString("0 1"));
        QCOMPARE(point.low(), 2.5);
        QVERIFY_THROWS_EXCEPTION(Error, Distribution(1, 0, 2));
        QVERIFY_THROWS_EXCEPTION(Error, Distribution(0, 1, 0));
        QVERIFY_THROWS_EXCEPTION(Error, Distribution(0, static_cast<double>(kInfinity), 2));
        QVERIFY_THROWS_EXCEPTION(Error, point.merge(Distribution(0, 1, 2)));
    }

    /// int4 in steps of a half: representable are -3.5 to 3.5.
    void clippedValuesAndCodes() {
        CodeUsage usage({0.5f, -7, 7});
        // -3.74 rounds to -7.48 -> -7: not clipped; -3.76 to -8: clipped. 0.25 is a tie: to 0, 0.75 to 2.
        const std::vector<float> values = {-3.74f, -3.76f, 0.25f, 0.75f, 100, kInfinity, kNan, 1};
        usage.add(values.data(), values.size());
        QCOMPARE(show(usage.counts()), QString("2 0 0 0 0 0 0 1 0 2 0 0 0 0 2"));
        QCOMPARE(usage.count(), 7u);
        QCOMPARE(usage.clippedFraction(), 3.0 / 7);
        QCOMPARE(usage.distinctCodes(), std::size_t{4});
        QCOMPARE(usage.effectiveBits(), 2.0);
    }

    void codesOfAWeight() {
        CodeUsage usage({0.1f, -127, 127});
        usage.addCodes(std::vector<std::int32_t>{-127, 0, 0, 5, 127, -128}, 0);
        QCOMPARE(usage.distinctCodes(), std::size_t{4});
        QCOMPARE(usage.clippedFraction(), 1.0 / 6);
        CodeUsage affine({0.1f, -100, 155});
        affine.addCodes(std::vector<std::int32_t>{0, 255}, 100);  // uint8
        QCOMPARE(affine.counts().front(), 1u);
        QCOMPARE(affine.counts().back(), 1u);
        QCOMPARE(affine.clippedFraction(), 0.0);
    }

    void codesMergeOnlyWithEqualQuantizers() {
        CodeUsage one({1, 0, 3}), other({1, 0, 3});
        const std::vector<float> low = {0, 1}, high = {1, 2, 7};
        one.add(low.data(), 2);
        other.add(high.data(), 3);
        one.merge(other);
        QCOMPARE(show(one.counts()), QString("1 2 1 1"));
        QCOMPARE(one.clippedFraction(), 0.2);
        QCOMPARE(CodeUsage({1, 0, 3}).effectiveBits(), 0.0);
        QVERIFY_THROWS_EXCEPTION(Error, one.merge(CodeUsage({2, 0, 3})));
        QVERIFY_THROWS_EXCEPTION(Error, CodeUsage({1, 0, 70000}));
        QVERIFY_THROWS_EXCEPTION(Error, CodeUsage({0, 0, 3}));
    }

    void rangesOfAWeight() {
        const auto weight = Constant::fromFloats({2, 3, 2}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, 0});
        QCOMPARE(show(channelRanges(*weight, 0)), QString("[1 6] [-5 0]"));
        QCOMPARE(show(channelRanges(*weight, 1)), QString("[-2 2] [-4 4] [-5 6]"));
        QCOMPARE(show(channelRanges(*weight, -1)), QString("[-5 5] [-4 6]"));
        QVERIFY_THROWS_EXCEPTION(Error, channelRanges(*weight, 3));
        QVERIFY_THROWS_EXCEPTION(Error, channelRanges(*Constant::fromInt64s({1}, {1}), 0));
    }

    void rangesOfAnActivationStream() {
        std::vector<ChannelRange> ranges(2);
        QVERIFY(ranges[0].empty());
        const TensorDesc last{DataType::Float32, {1, 2, 1, 3}, Layout::ChannelsLast};
        const TensorDesc planar{DataType::Float32, {1, 2, 1, 3}, Layout::Plain};
        const std::vector<float> values = {1, 10, kNan, 20, 3, 30};
        addRanges(channelLayout(last), values.data(), ranges);
        QCOMPARE(show(ranges), QString("[1 3] [10 30]"));
        addRanges(channelLayout(planar), values.data(), ranges);  // adds to the existing values
        QCOMPARE(show(ranges), QString("[1 10] [3 30]"));
        ranges[0].merge(ranges[1]);
        QCOMPARE(ranges[0].max, 30.0f);
    }
};

QTEST_GUILESS_MAIN(DistributionTest)
#include "distribution_test.moc"
