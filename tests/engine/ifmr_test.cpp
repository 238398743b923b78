// SPDX-License-Identifier: Apache-2.0
// IFMR, HFMG and AMCT's scale rule compared with golden vectors of an independent implementation, and the
// bounded-memory version compared with the exact algorithm.
#include <QtTest>
#include <random>

#include "quantize/calibration/amct_scale.h"
#include "support/calibration_values.h"
#include "support/tensor_statistics.h"

using namespace quantloupe;
using test::bell;
using test::near;
using test::ramp;

namespace {

std::vector<float> vectorB() {
    std::vector<float> values = ramp();
    values[0] = 20;
    return values;
}

std::vector<float> vectorC() {
    std::vector<float> values = ramp();
    for (float& x : values) x = float(-0.5 * double(x));
    return values;
}

std::vector<float> vectorOf(const QString& name) {
    if (name == "A") return ramp();
    if (name == "B") return vectorB();
    if (name == "C") return vectorC();
    return bell(name.mid(1).toInt());
}

/// The mean squared error of IFMR's reconstruction, on the values themselves.
double exactLoss(const std::vector<float>& values, const TensorQuantizer& quantizer, double low) {
    const double high = low + double(quantizer.scale) * (quantizer.quantMax - quantizer.quantMin);
    double sum = 0;
    for (const float x : values) {
        const double y = std::nearbyint(std::clamp(double(x), low, high) / double(quantizer.scale)) *
                         double(quantizer.scale);
        sum += (y - double(x)) * (y - double(x));
    }
    return sum / double(values.size());
}

}  // namespace

class IfmrTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The search is over the upper bound, which is 0 for values without positive ones.
    void negativeValuesAreNotAtTheEdgeOfTheSearch() {
        QVERIFY(
            solveCalibration(test::statisticsOf(vectorC()), {}, CalibrationMethod::Ifmr, {}).notice.empty());
    }
    void generatorEqualsTheReference() {
        const std::vector<float> g = bell(20000);
        QVERIFY(near(double(g[0]), -0.5550541281, 1e-7) && near(double(g[1]), 1.4944714308, 1e-7) &&
                near(double(g[2]), -0.9090954065, 1e-7));
        QVERIFY(near(double(*std::ranges::max_element(g)), 4.0822315216, 1e-7));
    }

    void goldenVectors_data() {
        QTest::addColumn<QString>("data");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<int>("bits");
        QTest::addColumn<double>("percentile");
        QTest::addColumn<double>("start");
        QTest::addColumn<double>("end");
        QTest::addColumn<int>("candidates");
        QTest::addColumn<int>("index");
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("offset");
        QTest::addColumn<double>("mse");
        const double p = 0.999999;
        QTest::newRow("A affine") << "A" << false << 8 << p << 0.7 << 1.3 << 61 << 30 << 0.01568627544 << -64
                                  << 2.05008e-5;
        QTest::newRow("A symmetric") << "A" << true << 8 << p << 0.7 << 1.3 << 61 << 30 << 0.02362204716 << 0
                                     << 4.64338e-5;
        QTest::newRow("B affine") << "B" << false << 8 << p << 0.7 << 1.3 << 61 << 30 << 0.0823372528 << -116
                                  << 5.62288e-4;
        QTest::newRow("B symmetric") << "B" << true << 8 << p << 0.7 << 1.3 << 61 << 29 << 0.1559055001 << 0
                                     << 2.03682e-3;
        QTest::newRow("B cut, at the edge")
            << "B" << false << 8 << 0.99 << 0.7 << 1.3 << 61 << 60 << 0.0188596081 << -77 << 0.260680;
        QTest::newRow("C affine") << "C" << false << 8 << p << 0.7 << 1.3 << 61 << 30 << 0.00784313772 << 63
                                  << 5.12520e-6;
        QTest::newRow("C symmetric, negative")
            << "C" << true << 8 << p << 0.7 << 1.3 << 61 << 30 << 0.01171875 << 0 << 1.14530e-5;
        QTest::newRow("G affine") << "G4000" << false << 8 << p << 0.7 << 1.3 << 61 << 28 << 0.0291033890 << 4
                                  << 7.17650e-5;
        QTest::newRow("G symmetric") << "G4000" << true << 8 << p << 0.7 << 1.3 << 61 << 28 << 0.0294448249
                                     << 0 << 7.39404e-5;
        QTest::newRow("G 4 bits, at the edge")
            << "G4000" << false << 4 << p << 0.7 << 1.3 << 61 << 0 << 0.4266526401 << 1 << 0.0158194856;
        QTest::newRow("G 4 bits, wider")
            << "G4000" << false << 4 << p << 0.2 << 1.0 << 80 << 42 << 0.4071941078 << 1 << 0.0145441485;
    }
    void goldenVectors() {
        QFETCH(QString, data);
        QFETCH(bool, symmetric);
        QFETCH(int, bits);
        QFETCH(double, percentile);
        QFETCH(double, start);
        QFETCH(double, end);
        CalibrationParameters parameters;
        parameters.maxPercentile = parameters.minPercentile = percentile;
        parameters.searchRange = {start, end};
        const CalibrationResult result = solveCalibration(
            test::statisticsOf(vectorOf(data)), {bits, true, symmetric}, CalibrationMethod::Ifmr, parameters);
        QTEST(result.candidates, "candidates");
        QTEST(result.index, "index");
        QFETCH(double, scale);
        QFETCH(double, mse);
        QVERIFY2(near(double(result.quantizer.scale), scale, 1e-6),
                 qPrintable(QString::number(double(result.quantizer.scale), 'g', 10)));
        QTEST(result.quantizer.zeroPoint, "offset");
        QVERIFY2(near(result.loss, mse, 1e-4), qPrintable(QString::number(result.loss, 'g', 8)));
        QVERIFY(!result.approximate);
        const bool atEdge = result.index == 0 || result.index + 1 == result.candidates;
        QCOMPARE(!result.notice.empty(), atEdge);
    }

    void unsignedCodesAreShifted() {
        const auto statistics = test::statisticsOf(ramp());
        QCOMPARE(
            solveCalibration(statistics, {8, false, false}, CalibrationMethod::Ifmr, {}).quantizer.zeroPoint,
            64);
        QCOMPARE(
            solveCalibration(statistics, {8, false, true}, CalibrationMethod::Ifmr, {}).quantizer.zeroPoint,
            128);
    }

    void histogramGroupingOnGoldenVectors_data() {
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<int>("bits");
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("offset");
        QTest::newRow("8 bits") << false << 8 << 0.0310601722 << -4;
        QTest::newRow("4 bits") << false << 4 << 0.4315026104 << 1;
        QTest::newRow("4 bits symmetric") << true << 4 << 0.4807318151 << 0;
    }
    void histogramGroupingOnGoldenVectors() {
        QFETCH(bool, symmetric);
        QFETCH(int, bits);
        QFETCH(double, scale);
        CalibrationParameters parameters;
        parameters.numOfBins = 1024;
        const CalibrationResult result = solveCalibration(
            test::statisticsOf(bell(20000)), {bits, true, symmetric}, CalibrationMethod::Hfmg, parameters);
        QCOMPARE(result.candidates, 628);
        QVERIFY2(near(double(result.quantizer.scale), scale, 1e-6),
                 qPrintable(QString::number(double(result.quantizer.scale), 'g', 10)));
        QTEST(result.quantizer.zeroPoint, "offset");
    }

    void scaleRule() {
        const auto row = [](float max, float min, bool symmetric, int bits, double scale, int offset) {
            const AmctScale found = amctScale(min, max, bits, symmetric);
            return near(double(found.scale), scale, 1e-6) && found.offset == offset;
        };
        QVERIFY(row(0.9f, -1, true, 8, 0.0078125, 0));
        QVERIFY(row(1, -0.9f, true, 8, 0.00787401572, 0));
        QVERIFY(row(3, -1, false, 8, 0.0156862754, -64));
        QVERIFY(row(3, 1, false, 8, 0.0117647061, -128));
        QVERIFY(row(0, 0, false, 8, 1, -128));
        QVERIFY(row(0, 0, true, 8, 1, 0));
        QVERIFY(row(0.9f, -1, true, 4, 0.125, 0));
    }

    /// Ten million values, more than are stored: the scale from the histogram is as good as that of the exact
    /// algorithm.
    void boundedVersionIsWithinOnePercent_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("bits");
        for (const int bits : {8, 4}) {
            QTest::addRow("normal, %d bits", bits) << 0 << bits;
            QTest::addRow("exponential with outliers, %d bits", bits) << 1 << bits;
            QTest::addRow("clipped as by Relu6, %d bits", bits) << 2 << bits;
        }
    }
    void boundedVersionIsWithinOnePercent() {
        QFETCH(int, kind);
        QFETCH(int, bits);
        constexpr std::size_t kCount = 10'000'000;
        std::mt19937 random(4711 + unsigned(kind));
        qInfo("seed %d", 4711 + kind);
        std::normal_distribution<float> normal(kind == 2 ? 1.0f : 0.2f, kind == 2 ? 2.5f : 1.0f);
        std::exponential_distribution<float> exponential(1.0f);
        std::vector<float> values(kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            if (kind == 1)
                values[i] = exponential(random) * (i % 100'003 == 0 ? 20.0f : 1.0f);
            else
                values[i] = normal(random);
            if (kind == 2) values[i] = std::clamp(values[i], 0.0f, 6.0f);
        }
        const ActivationScheme scheme{bits, true, false};
        const TensorStatistics statistics = test::statisticsOf(values);
        const CalibrationResult bounded = solveCalibration(statistics, scheme, CalibrationMethod::Ifmr, {});
        QVERIFY(bounded.approximate);

        TensorStatistics whole = statistics;
        auto all = std::make_shared<ValueDistribution>(*statistics.distribution);
        all->samples = std::move(values);
        whole.distribution = all;
        const CalibrationResult exact = solveCalibration(whole, scheme, CalibrationMethod::Ifmr, {});
        QVERIFY(!exact.approximate);
        // The k-th values come from the tails, which are exact: both searched the same candidates.
        const std::uint64_t k = kCount - std::uint64_t(std::floor(0.999999 * double(kCount)));
        const double low = std::min(0.0, double(statistics.distribution->kthSmallest(k)));
        const double loss = exactLoss(all->samples, bounded.quantizer, low);
        qInfo("candidate %d, exact %d; loss %.6g, exact %.6g; estimated %.6g", bounded.index, exact.index,
              loss, exact.loss, bounded.loss);
        QVERIFY(loss <= 1.01 * exact.loss);
        QVERIFY(near(bounded.loss, loss, 0.01));
    }
};

QTEST_GUILESS_MAIN(IfmrTest)
#include "ifmr_test.moc"
