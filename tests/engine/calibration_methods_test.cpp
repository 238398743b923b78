// SPDX-License-Identifier: Apache-2.0
// Calibration statistics do not depend on the order of samples, and each method finds the range that its
// definition gives. (Whole networks compared with the tools' own numbers: calibration_oracle_test; IFMR and
// HFMG: ifmr_test.)
#include <fmt/format.h>

#include <QtTest>
#include <random>
#include <thread>

#include "config/config_choices.h"
#include "quantize/calibration/histogram_loss.h"
#include "quantize/calibration/position_votes.h"
#include "quantize/calibration/power_of_two.h"
#include "quantize/weight_scale.h"
#include "support/calibration_values.h"
#include "support/random_seed.h"
#include "support/tensor_statistics.h"

using namespace quantloupe;
using test::bell;
using test::near;
using test::ramp;

namespace {

double lossOf(const std::vector<float>& values, const TensorQuantizer& quantizer) {
    double sum = 0;
    for (const float x : values) {
        float y = 0;
        applyFakeQuant(quantizer.fakeQuant(), &x, &y, 1);
        sum += (double(x) - double(y)) * (double(x) - double(y));
    }
    return sum / double(values.size());
}

}  // namespace

class CalibrationMethodsTest : public QObject {
    Q_OBJECT

    unsigned m_seed = 0;

  private Q_SLOTS:
    void initTestCase() { m_seed = test::randomSeed(); }

    /// Each value is in the bin whose edges enclose it, also for narrow bins.
    void valuesAreBetweenTheEdgesOfTheirBin() {
        std::mt19937 random(m_seed);
        for (int round = 0; round < 20; ++round) {
            std::uniform_real_distribution<float> uniform(-1, 1);
            const float low = uniform(random) * 3 - 3, high = low + 0.1f + 5 * std::abs(uniform(random));
            Histogram histogram(low, high, 1024);
            for (int i = 0; i < 2000; ++i) {
                // On an edge, just below it, or anywhere.
                const float edge = histogram.edge(random() % 1025);
                const float x = i % 3 == 0 ? edge
                                : i % 3 == 1
                                    ? std::nextafter(edge, low)
                                    : std::clamp(low + (high - low) * std::abs(uniform(random)), low, high);
                const std::size_t bin = histogram.binOf(x);
                QVERIFY(x >= histogram.edge(bin));
                QVERIFY(bin == 1023 ? x <= high : x < histogram.edge(bin + 1));
            }
        }
    }

    void coarserHistogramsAreTheSame() {
        const std::vector<float> values = bell(5000);
        Histogram fine(-6, 6, 8192), coarse(-6, 6, 128);
        fine.add(values);
        coarse.add(values);
        QCOMPARE(fine.coarsened(128).counts(), coarse.counts());
        QCOMPARE(fine.coarsened(128).edge(77), coarse.edge(77));
        QCOMPARE(fine.total(), 5000u);
        const Histogram folded = coarse.folded();
        QCOMPARE(folded.bins(), 64u);
        QCOMPARE(folded.total(), 5000u);
        QCOMPARE(folded.edge(0), 0.0f);
    }

    /// Bit-identical in any order, in chunks of any size, from two threads.
    void distributionsDoNotDependOnOrder() {
        std::mt19937 random(m_seed);
        std::vector<float> values = bell(60000);
        for (std::size_t i = 0; i < values.size(); i += 3) values[i] = std::max(values[i], 0.0f);
        const TensorStatistics whole = test::statisticsOf(values);
        std::ranges::shuffle(values, random);
        DistributionGatherer gatherer(whole.min, whole.max, whole.firstMin, whole.firstMax, values.size());
        const auto work = [&](std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end; at += 777)
                gatherer.add(std::span(values).subspan(at, std::min<std::size_t>(777, end - at)));
        };
        std::thread other(work, 0, 30000);
        work(30000, 60000);
        other.join();
        const ValueDistribution pieces = gatherer.finish();
        QVERIFY(pieces.version == whole.distribution->version);
        std::ranges::sort(values, std::greater<>());
        QCOMPARE(pieces.kthLargest(700), values[699]);  // among the tail, which is kept
        QVERIFY(std::abs(pieces.kthLargest(5000) - values[4999]) < 0.005f);
    }

    void historiesStayBounded() {
        RangeHistory history;
        double min = 0, max = 0, plainMin = 0;
        for (int i = 0; i < 20000; ++i) {
            const float low = -1 - float(i % 7), high = 2 + float(i % 5);
            history.add(low, high);
            plainMin += double(low);
            min = i == 0 ? double(low) : 0.99 * min + 0.01 * double(low);
            max = i == 0 ? double(high) : 0.99 * max + 0.01 * double(high);
        }
        QVERIFY(near(double(history.average(0).first), plainMin / 20000, 1e-6));
        QVERIFY(near(double(history.average(0.01).first), min, 0.01));
        QVERIFY(near(double(history.average(0.01).second), max, 0.01));
        RangeHistory two;
        two.add(-1, 1);
        two.add(-3, 2);
        QCOMPARE(two.average(0.5), (std::pair{-2.0f, 1.5f}));  // -1 / 2 - 3 / 2
        QCOMPARE(two.average(0.01).second, 1.01f);
    }

    void movingAverage() {
        const TensorStatistics statistics =
            test::statisticsOf(std::vector<std::vector<float>>{{-1, 1}, {-3, 2}, {0, 3}});
        CalibrationParameters parameters;
        parameters.averagingConstant = 0.5;  // (-1, 1) -> (-2, 1.5) -> (-1, 2.25)
        const TensorQuantizer q =
            solveCalibration(statistics, {}, CalibrationMethod::MovingAverage, parameters).quantizer;
        QVERIFY(q == quantizerForRange(-1, 2.25f, {}));
    }

    void percentileClipsMagnitudes() {
        std::vector<float> values(10000, 0.5f);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 100) / 100;
        values[17] = -50;
        CalibrationParameters parameters;
        parameters.percentile = 0.999;
        const TensorQuantizer q =
            solveCalibration(test::statisticsOf(values), {}, CalibrationMethod::Percentile, parameters)
                .quantizer;
        // What ONNX Runtime 1.30's HistogramCollector returns: the lower edge of bin 40, each 50 / 2048 wide.
        QCOMPARE(q, quantizerForRange(-0.9765625f, 0.9765625f, {}));
        // 99.9 % of the magnitudes are at most 0.99, which is in bin 162 of 8192, each 50 / 8192 wide.
        parameters.bins = 8192;
        QCOMPARE(solveCalibration(test::statisticsOf(values), {}, CalibrationMethod::Percentile, parameters)
                     .quantizer,
                 quantizerForRange(-162 * 50.0f / 8192, 162 * 50.0f / 8192, {}));
        parameters.bins.reset();
        parameters.percentile = 1.0;
        const TensorQuantizer all =
            solveCalibration(test::statisticsOf(values), {}, CalibrationMethod::Percentile, parameters)
                .quantizer;
        // The lower edge of the last bin, to the largest value.
        QVERIFY2(near(double(all.scale) * 255, 50.0 * 2047 / 2048 + 0.99, 1e-6),
                 qPrintable(QString::number(double(all.scale), 'g', 9)));
        QVERIFY(solveCalibration(test::statisticsOf(values), {}, CalibrationMethod::Percentile, parameters)
                    .notice.empty());
    }

    /// ONNX Runtime's compute_scale_zp returns scale 1 and zero point 0, whatever the scheme.
    void emptyRange() {
        for (const bool isSigned : {false, true})
            for (const bool symmetric : {false, true}) {
                const TensorQuantizer q = quantizerForRange(0, 0, {8, isSigned, symmetric});
                QVERIFY(q.scale == 1 && q.zeroPoint == 0);
            }
    }

    /// The range is empty if the percentile is 0, as in ONNX Runtime.
    void percentileOfSparseValuesIsReported() {
        std::vector<float> values(10000, 0.0f);
        values[17] = 5;
        CalibrationParameters parameters;
        parameters.percentile = 0.999;
        const CalibrationResult result =
            solveCalibration(test::statisticsOf(values), {}, CalibrationMethod::Percentile, parameters);
        QCOMPARE(result.quantizer.scale, 1.0f);
        QVERIFY(QString::fromStdString(result.notice).contains("raise percentile"));
    }

    /// The histogram's closed form against the values themselves, for few and many codes, clipped or not.
    void histogramLossEqualsTheExactLoss() {
        std::vector<float> values = bell(200000);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (i % 4 == 0) values[i] = std::clamp(values[i], 0.0f, 1.0f);
        const TensorStatistics statistics = test::statisticsOf(values);
        const HistogramLoss loss(*statistics.distribution);
        for (const double ratio : {1.2, 1.0, 0.6, 0.2})
            for (const int bits : {2, 4, 8, 12}) {
                const ActivationScheme scheme{bits};
                const TensorQuantizer q =
                    quantizerForRange(float(ratio) * statistics.min, float(ratio) * statistics.max, scheme);
                const FakeQuant f = q.fakeQuant();
                const double scale = double(f.scale);
                const double found = loss({scale, double(f.low) * scale, double(f.high) * scale}),
                             exact = lossOf(values, q);
                QVERIFY2(
                    near(found, exact, bits > 8 ? 0.03 : 0.01),
                    qPrintable(QString("%1 bits, %2: %3, %4").arg(bits).arg(ratio).arg(found).arg(exact)));
            }
    }

    void mseFindsTheBestRange() {
        std::vector<float> values = bell(100000);
        values[5] = 20;
        const TensorStatistics statistics = test::statisticsOf(values);
        for (const int bits : {3, 4, 8}) {
            const ActivationScheme scheme{bits};
            const CalibrationResult found = solveCalibration(statistics, scheme, CalibrationMethod::Mse, {});
            QCOMPARE(found.candidates, 81);
            double best = lossOf(values, quantizerForRange(statistics.min, statistics.max, scheme));
            for (int i = 20; i < 100; ++i)
                best = std::min(best,
                                lossOf(values, quantizerForRange(float(i / 100.0) * statistics.min,
                                                                 float(i / 100.0) * statistics.max, scheme)));
            QVERIFY(lossOf(values, found.quantizer) <= 1.005 * best);
        }
        CalibrationParameters narrow;
        narrow.searchRange = {0.9, 1.0};
        QVERIFY(!solveCalibration(statistics, {3}, CalibrationMethod::Mse, narrow).notice.empty());
        narrow.searchRange = {0.01, 0.05};
        QVERIFY(solveCalibration(statistics, {8}, CalibrationMethod::Mse, narrow)
                    .notice.starts_with("the best range is at the upper edge of the search range, 0.05"));
    }

    /// A histogram of a constant covers a range around it that has nothing to do with the values.
    void constantsKeepTheirRange() {
        const TensorStatistics statistics = test::statisticsOf(std::vector<float>(100, 0.0008f));
        for (const auto& [name, method] : kCalibrationMethods.available) {
            if (method == CalibrationMethod::PowerOfTwoMinMse) continue;  // one of five powers
            const double range = 255.0 * solveCalibration(statistics, {8}, method, {}).quantizer.scale;
            QVERIFY2(range > 0.0004 && range < 0.002, fmt::format("{}: {}", name, range).c_str());
        }
    }

    /// Encodings that the quantizers of aimet-onnx 2.42 computed for the same values
    /// (tests/assets/aimet_tf_enhanced.py). The second sample of "wide" exceeds the range of the first.
    void tfEnhanced_data() {
        QTest::addColumn<QString>("values");
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("offset");
        const auto row = [](const char* values, int bits, bool symmetric, double scale, int offset) {
            QTest::addRow("%s, %d bits%s", values, bits, symmetric ? ", symmetric" : "")
                << values << bits << symmetric << scale << offset;
        };
        row("ramp", 8, false, 0.0156247597, -63);
        row("ramp", 8, true, 0.0235293973, -128);
        row("ramp", 4, false, 0.266666681, -4);
        row("ramp", 4, true, 0.403999776, -8);
        row("ramp", 2, false, 1.25, -1);
        row("ramp", 2, true, 2.01999879, -2);
        row("bell", 8, false, 0.0310905352, -124);
        row("bell", 8, true, 0.0309824254, -128);
        row("bell", 4, false, 0.363370597, -8);
        row("bell", 4, true, 0.37466383, -8);
        row("bell", 2, false, 1.32134771, -2);
        row("bell", 2, true, 1.4117769, -2);
        row("wide", 8, false, 0.0665282756, -128);
        row("wide", 8, true, 0.0655914471, -128);
        row("wide", 4, false, 0.848235548, -8);
        row("wide", 4, true, 0.853358209, -8);
        row("wide", 2, false, 3.06307292, -1);
        row("wide", 2, true, 3.18587112, -2);
    }
    void tfEnhanced() {
        QFETCH(QString, values);
        QFETCH(int, bits);
        QFETCH(bool, symmetric);
        QFETCH(double, scale);
        QFETCH(int, offset);
        std::vector<std::vector<float>> samples{values == "ramp" ? ramp() : bell(20000)};
        if (values == "wide") {
            std::vector<float> second(samples[0].begin() + 4000, samples[0].begin() + 8000);
            for (float& x : second) x *= 2.5f;
            samples[0].resize(4000);
            samples.push_back(second);
        }
        const CalibrationResult found = solveCalibration(
            test::statisticsOf(samples), {bits, false, symmetric}, CalibrationMethod::TfEnhanced, {});
        QVERIFY2(near(double(found.quantizer.scale), scale, 1e-6),
                 qPrintable(QString::number(double(found.quantizer.scale), 'g', 10)));
        QCOMPARE(found.quantizer.zeroPoint, -offset);
    }

    void powersOfTwo() {
        QCOMPARE(positionOf(0.25), 2);
        QCOMPARE(positionOf(0.3), 2);  // nearest in the logarithm
        QCOMPARE(positionOf(0.36), 1);
        QCOMPARE(scaleOf(-3), 8.0f);
        // 2 * 1 / 254 = 0.00787: 7; unsigned 2 / 255: 7
        QCOMPARE(basePosition(-1, 0.5f, {8, true, true}), 7);
        QCOMPARE(basePosition(-1, 0.5f, {8, false, true}), 7);
        QCOMPARE(basePosition(0, 1, {8, true, false}), 8);  // 1 / 255
        const TensorStatistics statistics = test::statisticsOf(bell(20000));
        const TensorQuantizer plain =
            solveCalibration(statistics, {8, true, true}, CalibrationMethod::PowerOfTwoNonOverflow, {})
                .quantizer;
        QCOMPARE(plain.scale, 0.03125f);  // 2 * 4.08 / 254 = 0.0321
        const TensorQuantizer best =
            solveCalibration(statistics, {4, true, true}, CalibrationMethod::PowerOfTwoMinMse, {}).quantizer;
        double least = 1e9;
        float expected = 0;
        for (int position = -1; position < 4; ++position) {
            TensorQuantizer candidate = plain;
            candidate.scale = scaleOf(position);
            candidate.quantMin = -7;
            candidate.quantMax = 7;
            if (const double loss = lossOf(bell(20000), candidate); loss < least) {
                least = loss;
                expected = candidate.scale;
            }
        }
        QCOMPARE(best.scale, expected);
        // Any method, rounded afterwards: affine keeps its lower end.
        const TensorQuantizer rounded =
            solveCalibration(statistics, {8, true, false, true}, CalibrationMethod::MinMax, {}).quantizer;
        QCOMPARE(rounded.scale, 0.03125f);
        QCOMPARE(rounded.zeroPoint, -128 + 123);  // 3.8458 / 0.03125 = 123.07
    }

    void theMostCommonPowerWins() {
        TensorStatistics statistics =
            test::statisticsOf(std::vector<std::vector<float>>{{-1, 1}, {1, -0.5f}, {-100, 3}});
        VoteCounter votes;
        for (const auto& sample : std::vector<std::vector<float>>{{-1, 1}, {1, -0.5f}, {-100, 3}})
            votes.add(8, sample);
        statistics.votes[8] = votes.of(8);
        CalibrationParameters parameters;
        parameters.mode = PowerOfTwoMode::MostCommon;
        const TensorQuantizer q =
            solveCalibration(statistics, {8, true, true}, CalibrationMethod::PowerOfTwoMinMse, parameters)
                .quantizer;
        QCOMPARE(q.scale, scaleOf(bestPosition(std::vector<float>{-1, 1}, 8)));
        QCOMPARE(bestPosition(std::vector<float>{-1, 1}, 8), bestPosition(std::vector<float>{1, -0.5f}, 8));
        QVERIFY(q.scale < 0.02f);  // the outlier had one vote
        const CalibrationResult affine =
            solveCalibration(statistics, {8, true, false}, CalibrationMethod::PowerOfTwoMinMse, parameters);
        QVERIFY(affine.notice.find("the mode all is used") != std::string::npos);
    }

    /// Twice the magnitude of a mask can exceed float32.
    void masksKeepTheirRange() {
        TensorStatistics statistics = test::statisticsOf({-3e38f, 3.75f, 1.0f, -2.0f});
        const auto range = [&](const ActivationScheme& scheme, CalibrationMethod method) {
            const TensorQuantizer q = solveCalibration(statistics, scheme, method, {}).quantizer;
            return double(q.scale) * (q.quantMin - q.zeroPoint);
        };
        const double affine = range({8, true, false}, CalibrationMethod::Entropy);
        QVERIFY(affine < -2.9e38 && affine > -3.1e38);
        const double power = range({8, true, true}, CalibrationMethod::PowerOfTwoNonOverflow);
        QVERIFY(power < -2.1e38 && power > -4.4e38);  // rounded to the next power
    }

    /// All methods and schemes on degenerate data: no division by zero, 0 is representable, the scale is
    /// finite.
    void degenerateTensors_data() {
        QTest::addColumn<QList<float>>("values");
        QTest::newRow("all zero") << QList<float>(100, 0.0f);
        QTest::newRow("constant") << QList<float>(100, 2.5f);
        QTest::newRow("constant, negative") << QList<float>(100, -2.5f);
        QTest::newRow("one element") << QList<float>{0.7f};
        QTest::newRow("tiny") << QList<float>{1e-38f, -1e-39f, 0.0f};
        QTest::newRow("huge") << QList<float>{3e38f, -1e37f, 1.0f};
        QTest::newRow("all of float32") << QList<float>{-3e38f, 3e38f, 1.0f};
        QTest::newRow("two values") << QList<float>{-1.0f, 1.0f};
    }
    void degenerateTensors() {
        QFETCH(QList<float>, values);
        TensorStatistics statistics = test::statisticsOf(std::vector<float>(values.begin(), values.end()));
        for (int bits = 2; bits <= 16; bits += 2) {
            VoteCounter votes;
            votes.add(bits, std::span(values.data(), std::size_t(values.size())));
            statistics.votes[bits] = votes.of(bits);
            for (const auto& [method, m] : kCalibrationMethods.available)
                for (const ActivationScheme& scheme :
                     {ActivationScheme{bits, true, false}, ActivationScheme{bits, false, true},
                      ActivationScheme{bits, true, true, true}}) {
                    const TensorQuantizer q = solveCalibration(statistics, scheme, m, {}).quantizer;
                    const std::string what =
                        fmt::format("{}, {} bits: {} {}", method, bits, q.scale, q.zeroPoint);
                    QVERIFY2(std::isfinite(q.scale) && q.scale > 0, what.c_str());
                    QVERIFY2(q.zeroPoint >= q.quantMin && q.zeroPoint <= q.quantMax, what.c_str());
                }
        }
        QCOMPARE(!solveCalibration(statistics, {}, CalibrationMethod::MinMax, {}).notice.empty(),
                 values.contains(0.0f) && values.size() == 100);
    }
};

QTEST_GUILESS_MAIN(CalibrationMethodsTest)
#include "calibration_methods_test.moc"
