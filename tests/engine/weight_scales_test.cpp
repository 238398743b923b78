// SPDX-License-Identifier: Apache-2.0
// Scales and codes of weights and biases: the scale that each definition gives, and properties of random
// weights. (Whole networks compared with the tools' own numbers: calibration_oracle_test.)
#include <QtTest>
#include <random>

#include "quantize/quantizer.h"
#include "quantize/weight_scale.h"
#include "support/calibration_values.h"
#include "support/random_seed.h"

using namespace quantloupe;
using test::near;

class WeightScalesTest : public QObject {
    Q_OBJECT

    unsigned m_seed = 0;

  private Q_SLOTS:
    void initTestCase() { m_seed = test::randomSeed(); }

    void weightScales_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<bool>("restricted");
        QTest::addColumn<double>("scale");
        QTest::newRow("min_max") << "min_max" << true << 1.0 / 127;
        // the larger of 1 / 128 and 0.9 / 127
        QTest::newRow("min_max, full range") << "min_max" << false << 1.0 / 128;
        QTest::newRow("arq") << "arq" << true << 1.0 / 128;
    }
    void weightScales() {
        QFETCH(QString, method);
        QFETCH(bool, restricted);
        QFETCH(double, scale);
        WeightScheme scheme;
        scheme.restricted = restricted;
        scheme.method = method == "arq" ? WeightMethod::Arq : WeightMethod::MinMax;
        const std::vector<float> values{0.9f, -1, 0.25f};
        QVERIFY(near(double(weightScale(values, scheme).scale), scale, 1e-6));
        QCOMPARE(weightCodes(scheme).first, method == "arq" || !restricted ? -128 : -127);
    }

    void vanishingWeightsAreMarked() {
        QVERIFY(quantizeWeight(*Constant::fromFloats({3}, {1e-39f, -2e-39f, 0}), {}, 0).vanished);
        QVERIFY(!quantizeWeight(*Constant::fromFloats({3}, {1e-30f, 0, 0}), {}, 0).vanished);
        QVERIFY(!quantizeWeight(*Constant::fromFloats({3}, {0, 0, 0}), {}, 0).vanished);
    }

    /// int8 with its own power-of-two scale; groups of a transposed convolution share the weight's scales.
    void otherBiases() {
        const ConstantQuantizer own =
            quantizeBias(*Constant::fromFloats({3}, {1, -0.5f, 0.25f}), 8, 0.5f, {0.1f, 0.2f, 0.3f});
        QCOMPARE(own.axis, -1);
        QVERIFY(!own.inProductScale);
        QCOMPARE(own.scales, std::vector<float>{0.015625f});  // 1 / 64 represents all three exactly
        const ConstantQuantizer groups =
            quantizeBias(*Constant::fromFloats({4}, {1, 1, 1, 1}), 32, 1, {0.5f, 0.25f});
        QCOMPARE(groups.scales, (std::vector<float>{0.5f, 0.25f, 0.5f, 0.25f}));
        QCOMPARE(groups.codes.values(), (std::vector<std::int32_t>{2, 4, 2, 4}));
    }

    void weightMseIsNotWorseThanMinMax() {
        std::mt19937 random(m_seed);
        std::normal_distribution<float> normal;
        for (int round = 0; round < 30; ++round) {
            std::vector<float> values(400);
            for (float& x : values) x = normal(random);
            const ConstantPtr weight = Constant::fromFloats({20, 20}, values);
            WeightScheme scheme;
            scheme.bits = 3 + round % 4;
            scheme.perChannel = round % 2 == 0;
            scheme.symmetric = round % 3 != 0;
            scheme.isSigned = round % 5 != 0;
            const auto error = [&] {
                const ConstantQuantizer q = quantizeWeight(*weight, scheme, 1);
                double sum = 0;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const double d = double(values[i]) - double(q.dequantized->floats()[i]);
                    sum += d * d;
                    const std::size_t channel = scheme.perChannel ? i % 20 : 0;
                    const int stored = q.codes[i] + q.zeroPoints[channel];
                    if (stored < q.quantMin || stored > q.quantMax) return -1.0;
                    if (q.dequantized->floats()[i] != float(q.codes[i]) * q.scales[channel]) return -1.0;
                }
                return sum;
            };
            const double plain = error();
            scheme.method = WeightMethod::Mse;
            const double best = error();
            QVERIFY(plain > 0 && best > 0);
            QVERIFY(best <= plain);
        }
    }
};

QTEST_GUILESS_MAIN(WeightScalesTest)
#include "weight_scales_test.moc"
