// SPDX-License-Identifier: Apache-2.0
// Differences of tensors: the worked example of the Accuracy Analyzer, its special cases, streaming,
// channels.
#include "analysis/tensor_metrics.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/divergence.h"
#include "analysis/relative_errors.h"
#include "base/error.h"
#include "runtime/integer/codes.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

DifferenceSums sumsOf(const std::vector<float>& reference, const std::vector<float>& tested) {
    DifferenceSums sums;
    sums.add(reference.data(), tested.data(), reference.size());
    return sums;
}

TensorDifference differenceOf(const std::vector<float>& reference, const std::vector<float>& tested) {
    TensorDifference difference = sumsOf(reference, tested).result();
    RelativeErrorSums relative;
    relative.add(reference.data(), tested.data(), reference.size());
    relative.put(difference);
    DivergenceSums divergence;
    divergence.addSample(reference.data(), tested.data(), reference.size());
    divergence.put(difference);
    return difference;
}

bool near(double value, double wanted, double tolerance) {
    if (std::abs(value - wanted) <= tolerance) return true;
    qWarning("%.12g instead of %.12g", value, wanted);
    return false;
}

std::vector<float> randomFloats(std::mt19937& random, std::size_t count, float mean = 0) {
    std::normal_distribution<float> normal(mean);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
}

}  // namespace

class TensorMetricsTest : public QObject {
    Q_OBJECT

    std::mt19937 m_random;

  private Q_SLOTS:
    void init() { m_random.seed(test::randomSeed()); }

    /// A worked example in float64; the inputs are rounded to float, hence the tolerances.
    void workedExampleOfTheAnalyzer() {
        const TensorDifference d = differenceOf({1, 2, -3, 0, 0.5f}, {1.1f, 1.9f, -3.3f, 0.05f, 0.5f});
        QVERIFY(near(d.cosine, 0.9978806762, 1e-7));
        QVERIFY(near(d.maxAbsolute, 0.3, 1e-6));
        QVERIFY(near(*d.accumulatedRelative, 0.25, 1e-6));
        QVERIFY(near(d.relativeEuclidean, 0.0888523317, 1e-7));
        QVERIFY(near(d.qs, 0.0888523317, 1e-7));
        QVERIFY(near(*d.klDivergence, 3.8107e-4, 1e-8));
        QVERIFY(near(d.meanAbsolute, 0.11, 1e-6));
        QVERIFY(near(d.rootMeanSquare, 0.15, 1e-6));
        QVERIFY(near(*d.maxRelative, 0.1, 1e-6));
        QVERIFY(near(*d.meanRelative, 0.05, 1e-6));
        QVERIFY(near(d.testedMean, 0.05, 1e-7));
        QVERIFY(near(d.testedDeviation, 1.7860571, 1e-6));
        QVERIFY(near(d.referenceMean, 0.1, 1e-7));
        QVERIFY(near(d.referenceDeviation, 1.6852299, 1e-6));
        QVERIFY(near(d.sqnrDb, 21.02662, 1e-4));
        QVERIFY(near(d.absoluteL2, 0.3354102, 1e-6));
        QVERIFY(d.note.empty());
    }

    /// A tensor that is stored as codes gives the same sums, bit for bit, as its values in the order that
    /// tensor_metrics.h states: eight lanes, then the rest.
    void codesAndValuesGiveTheSameSums() {
        for (int round = 0; round < 200; ++round) {
            const std::size_t count = m_random() % 5000;
            const auto reference = randomFloats(m_random, count);
            const FakeQuant quantizer{0.017f, -100.0f, 155.0f};
            std::vector<std::uint8_t> codes(count);
            for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(m_random() & 255);
            std::vector<float> tested(count);
            decode(quantizer, codes.data(), tested.data(), count);
            DifferenceSums values, stored, expected;
            values.add(reference.data(), tested.data(), count);
            stored.add(reference.data(), codes.data(), quantizer, count);
            DifferenceSums lanes[8];
            const auto addOne = [&](DifferenceSums& sums, std::size_t i) {
                const double f = reference[i], q = tested[i], d = q - f;
                sums.merge({d * d, f * f, q * q, q * f, std::fabs(d), std::fabs(d), f, q, 1});
            };
            for (std::size_t i = 0; i < count / 8 * 8; ++i) addOne(lanes[i % 8], i);
            for (const DifferenceSums& lane : lanes) expected.merge(lane);
            for (std::size_t i = count / 8 * 8; i < count; ++i) addOne(expected, i);
            for (const DifferenceSums* sums : {&values, &stored}) {
                QVERIFY(sums->squaredDifference == expected.squaredDifference);
                QVERIFY(sums->squaredReference == expected.squaredReference);
                QVERIFY(sums->squaredTested == expected.squaredTested);
                QVERIFY(sums->product == expected.product);
                QVERIFY(sums->maxAbsolute == expected.maxAbsolute);
                QVERIFY(sums->absoluteDifference == expected.absoluteDifference);
                QVERIFY(sums->sumReference == expected.sumReference);
                QVERIFY(sums->sumTested == expected.sumTested);
                QVERIFY(sums->count == expected.count);
            }
        }
    }

    void equalTensors() {
        const TensorDifference d = differenceOf({1, -2, 0}, {1, -2, 0});
        QCOMPARE(d.qs, 0.0);
        QCOMPARE(d.sqnrDb, kInfinity);
        QVERIFY(near(d.cosine, 1, 1e-15));
        QCOMPARE(d.maxAbsolute, 0.0);
        QCOMPARE(*d.klDivergence, 0.0);
    }

    void bothAllZero() {
        const TensorDifference d = differenceOf({0, 0}, {0, 0});
        QCOMPARE(d.qs, 0.0);
        QCOMPARE(d.cosine, 1.0);
        QCOMPARE(d.relativeEuclidean, 0.0);
        QCOMPARE(*d.klDivergence, 0.0);
    }

    void oneAllZero() {
        const TensorDifference fromZero = differenceOf({0, 0}, {1, 0});
        QCOMPARE(fromZero.qs, kInfinity);
        QCOMPARE(fromZero.sqnrDb, -kInfinity);
        QCOMPARE(fromZero.relativeEuclidean, 0.0);  // the Analyzer's convention where QS has infinity
        QVERIFY(std::isnan(fromZero.cosine));
        QCOMPARE(fromZero.note, std::string("the cosine is undefined: the reference is all zero"));
        QCOMPARE(*fromZero.accumulatedRelative, 0.0);

        const TensorDifference toZero = differenceOf({1, 0}, {0, 0});
        QCOMPARE(toZero.qs, 1.0);
        QCOMPARE(toZero.relativeEuclidean, 1.0);
        QVERIFY(std::isnan(toZero.cosine));
        QCOMPARE(toZero.note, std::string("the cosine is undefined: the tensor is all zero"));
    }

    void aSingleElement() {
        const TensorDifference d = differenceOf({2}, {-1});
        QCOMPARE(d.cosine, 1.0);
        QVERIFY(QString::fromStdString(d.note).contains("single element"));
        QCOMPARE(d.qs, 1.5);
        QCOMPARE(d.referenceDeviation, 0.0);
    }

    void noElements() {
        const TensorDifference d = differenceOf({}, {});
        QCOMPARE(d.qs, 0.0);
        QCOMPARE(d.cosine, 1.0);
        QCOMPARE(*d.meanRelative, 0.0);
        QCOMPARE(*d.klDivergence, 0.0);
    }

    /// Elements of |f| <= FLT_EPSILON are dropped from the relative errors; a norm that small makes the
    /// distance 0.
    void tinyReferences() {
        const float tiny = std::numeric_limits<float>::epsilon();
        TensorDifference d = differenceOf({tiny, 2}, {1, 3});
        QCOMPARE(*d.accumulatedRelative, 0.5);
        QCOMPARE(*d.meanRelative, 0.25);
        d = differenceOf({2 * tiny, 2}, {4 * tiny, 3});
        QCOMPARE(*d.accumulatedRelative, 1.5);
        QCOMPARE(*d.maxRelative, 1.0);
        d = differenceOf({tiny, 0}, {0, 0});
        QCOMPARE(d.relativeEuclidean, 0.0);
        QCOMPARE(d.qs, 1.0);
        d = differenceOf({2 * tiny, 0}, {0, 0});
        QCOMPARE(d.relativeEuclidean, 1.0);
    }

    void nanMakesAllMetricsNan() {
        for (std::size_t at : {0u, 9u}) {  // in the lanes, in the rest
            std::vector<float> reference(10, 1), tested(10, 2);
            tested[at] = kNan;
            const TensorDifference d = differenceOf(reference, tested);
            for (const double value :
                 {d.qs, d.cosine, d.sqnrDb, d.maxAbsolute, d.meanAbsolute, d.relativeEuclidean,
                  *d.accumulatedRelative, *d.maxRelative, *d.klDivergence, d.testedMean})
                QVERIFY(std::isnan(value));
        }
    }

    void infiniteValuesAreNoZeroReference() {
        const float infinity = std::numeric_limits<float>::infinity();
        for (const bool inReference : {false, true}) {
            std::vector<float> values(10, 1), other(10, 2);
            values[3] = infinity;
            const TensorDifference d =
                inReference ? differenceOf(values, other) : differenceOf(other, values);
            for (const double value : {d.qs, d.sqnrDb, d.cosine, d.maxAbsolute}) QVERIFY(std::isnan(value));
            QVERIFY(std::isnan(inReference ? d.referenceDeviation : d.testedDeviation));
            QCOMPARE(d.note, std::string("the values are not all finite"));
        }
    }

    /// Compared with a direct implementation of the formulas, for lengths around the SIMD width.
    void agreesWithDirectFormulas() {
        for (const std::size_t count : {1u, 7u, 8u, 9u, 16u, 31u, 1000u, 4099u}) {
            const auto f = randomFloats(m_random, count, 3), q = randomFloats(m_random, count, 3);
            const DifferenceSums sums = sumsOf(f, q);
            RelativeErrorSums relative;
            relative.add(f.data(), q.data(), count);
            long double difference = 0, reference = 0, tested = 0, product = 0, absolute = 0, ratios = 0;
            double largest = 0, largestRatio = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const double d = double(q[i]) - double(f[i]);
                difference += d * d;
                reference += double(f[i]) * double(f[i]);
                tested += double(q[i]) * double(q[i]);
                product += double(q[i]) * double(f[i]);
                absolute += std::abs(d);
                ratios += std::abs(d) / std::abs(double(f[i]));
                largest = std::max(largest, std::abs(d));
                largestRatio = std::max(largestRatio, std::abs(d) / std::abs(double(f[i])));
            }
            const auto same = [](double value, long double wanted) {
                return near(value, double(wanted), 1e-12 * std::abs(double(wanted)));
            };
            QVERIFY(same(sums.squaredDifference, difference));
            QVERIFY(same(sums.squaredReference, reference));
            QVERIFY(same(sums.squaredTested, tested));
            QVERIFY(same(sums.product, product));
            QVERIFY(same(sums.absoluteDifference, absolute));
            QCOMPARE(sums.maxAbsolute, largest);
            QVERIFY(same(relative.accumulated, ratios));
            QCOMPARE(relative.max, largestRatio);
            QCOMPARE(sums.count, count);
        }
    }

    void mergedPiecesEqualTheWhole() {
        std::vector<float> f(1000), q(1000);
        for (std::size_t i = 0; i < f.size(); ++i)
            f[i] = float(i % 17) - 8, q[i] = f[i] + 0.25f * float(i % 3);
        const DifferenceSums whole = sumsOf(f, q);
        DifferenceSums pieces;
        for (std::size_t at = 0; at < f.size(); at += 40) {
            DifferenceSums piece;
            piece.add(f.data() + at, q.data() + at, 40);
            pieces.merge(piece);
        }
        QCOMPARE(pieces.squaredDifference, whole.squaredDifference);  // exact: all terms are dyadic
        QCOMPARE(pieces.product, whole.product);
        QCOMPARE(pieces.absoluteDifference, whole.absoluteDifference);
        QCOMPARE(pieces.sumTested, whole.sumTested);
        QCOMPARE(pieces.maxAbsolute, 0.5);
        QCOMPARE(pieces.count, whole.count);
    }

    /// Scaling and shifting a tensor keeps its distribution; P and Q are not interchangeable.
    void divergenceByHand() {
        const std::vector<float> f = {0, 1, 2}, scaled = {5, 7, 9}, q = {0, 3, 4};
        QCOMPARE(klDivergence(f.data(), scaled.data(), 3), 0.0);
        // Scaled: f = (e, 1/2, 1), q = (e, 3/4, 1); the sums are 3/2 + e and 7/4 + e.
        const double e = std::numeric_limits<float>::epsilon(), sumF = 1.5 + e, sumQ = 1.75 + e;
        const double wanted = e / sumQ * std::log(sumF / sumQ) +
                              0.75 / sumQ * std::log(0.75 / sumQ * sumF / 0.5) +
                              1 / sumQ * std::log(sumF / sumQ);
        QVERIFY(near(klDivergence(f.data(), q.data(), 3), wanted, 1e-12));
        QVERIFY(std::abs(klDivergence(q.data(), f.data(), 3) - wanted) > 1e-4);
        const std::vector<float> constant = {4, 4, 4};  // stays as it is: uniform
        const double fromUniform = std::log(sumF / 3) - (std::log(e) + std::log(0.5)) / 3;
        QVERIFY(near(klDivergence(f.data(), constant.data(), 3), fromUniform, 1e-12));
    }

    void divergencesAreAveragedOverSamples() {
        const std::vector<float> f = {0, 1, 2}, q = {0, 3, 4};
        const double one = klDivergence(f.data(), q.data(), 3);
        DivergenceSums first, second;
        first.addSample(f.data(), q.data(), 3);
        second.addSample(f.data(), f.data(), 3);
        first.merge(second);
        QCOMPARE(first.mean(), one / 2);
        QCOMPARE(first.max, one);
    }

    void channelsInEveryLayout() {
        const std::size_t batch = 2, channels = 21, spatial = 35;
        const TensorDesc planar{DataType::Float32, {2, 21, 5, 7}, Layout::Plain};
        const TensorDesc last{DataType::Float32, {2, 21, 5, 7}, Layout::ChannelsLast};
        const auto f = randomFloats(m_random, planar.count()), q = randomFloats(m_random, planar.count());
        std::vector<float> fLast(f.size()), qLast(f.size());
        convertLayout(planar, f.data(), Layout::ChannelsLast, fLast.data());
        convertLayout(planar, q.data(), Layout::ChannelsLast, qLast.data());
        std::vector<DifferenceSums> one(channels), other(channels);
        addPerChannel(channelLayout(planar), f.data(), q.data(), one);
        addPerChannel(channelLayout(last), fLast.data(), qLast.data(), other);
        for (std::size_t c = 0; c < channels; ++c) {
            std::vector<float> channelF, channelQ;
            for (std::size_t n = 0; n < batch; ++n)
                for (std::size_t s = 0; s < spatial; ++s) {
                    channelF.push_back(f[(n * channels + c) * spatial + s]);
                    channelQ.push_back(q[(n * channels + c) * spatial + s]);
                }
            const DifferenceSums wanted = sumsOf(channelF, channelQ);
            for (const DifferenceSums& sums : {one[c], other[c]}) {
                QVERIFY(near(sums.squaredDifference, wanted.squaredDifference, 1e-10));
                QVERIFY(near(sums.product, wanted.product, 1e-10));
                QCOMPARE(sums.maxAbsolute, wanted.maxAbsolute);
                QCOMPARE(sums.count, batch * spatial);
            }
        }
    }

    void channelLayouts() {
        const auto show = [](const ChannelLayout& l) {
            return QString("%1 %2 %3").arg(l.outer).arg(l.channels).arg(l.inner);
        };
        const TensorDesc planar{DataType::Float32, {4, 3, 2, 5}, Layout::Plain};
        const TensorDesc last{DataType::Float32, {4, 3, 2, 5}, Layout::ChannelsLast};
        QCOMPARE(show(channelLayout(planar)), QString("4 3 10"));
        QCOMPARE(show(channelLayout(last)), QString("40 3 1"));
        QCOMPARE(show(channelLayout(TensorDesc{DataType::Float32, {7}, Layout::Plain})), QString("1 1 7"));
        QCOMPARE(show(channelLayout(Dims{6, 2, 3, 3}, 0)), QString("1 6 18"));
        QCOMPARE(show(channelLayout(Dims{8, 5}, -1)), QString("8 5 1"));
        QVERIFY_THROWS_EXCEPTION(Error, channelLayout(Dims{8, 5}, 2));
        QVERIFY_THROWS_EXCEPTION(Error, channelLayout(Dims{8, 5}, -3));
    }
};

QTEST_GUILESS_MAIN(TensorMetricsTest)
#include "tensor_metrics_test.moc"
