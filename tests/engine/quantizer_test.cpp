// SPDX-License-Identifier: Apache-2.0
// Scales, zero points and codes compared with values computed by hand.
#include "quantize/quantizer.h"

#include <QtTest>

#include "base/error.h"
#include "quantize/raised_scales.h"

using namespace quantloupe;

namespace {

QString text(const TensorQuantizer& q) {
    return QString("%1 %2 [%3, %4]")
        .arg(double(q.scale), 0, 'g', 7)
        .arg(q.zeroPoint)
        .arg(q.quantMin)
        .arg(q.quantMax);
}

QString codes(const ConstantQuantizer& q) {
    QStringList list;
    for (const int code : q.codes.values()) list << QString::number(code);
    return list.join(" ");
}

float simulate(const TensorQuantizer& quantizer, float x) {
    float y = 0;
    applyFakeQuant(quantizer.fakeQuant(), &x, &y, 1);
    return y;
}

}  // namespace

class QuantizerTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void rangesGiveScalesAndZeroPoints_data() {
        QTest::addColumn<float>("min");
        QTest::addColumn<float>("max");
        QTest::addColumn<bool>("isSigned");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<QString>("expected");
        // 4 / 255; -128 + 1 / 0.0156863 = -64.25 -> -64
        QTest::newRow("affine") << -1.0f << 3.0f << true << false << "0.01568628 -64 [-128, 127]";
        QTest::newRow("affine unsigned") << -1.0f << 3.0f << false << false << "0.01568628 64 [0, 255]";
        QTest::newRow("widened to hold 0") << 1.0f << 3.0f << true << false << "0.01176471 -128 [-128, 127]";
        QTest::newRow("only negative") << -2.55f << -1.0f << true << false << "0.01 127 [-128, 127]";
        QTest::newRow("symmetric") << -1.0f << 0.5f << true << true << "0.007874016 0 [-128, 127]";
        QTest::newRow("symmetric unsigned") << -1.0f << 0.5f << false << true << "0.007874016 128 [0, 255]";
        QTest::newRow("nothing there") << 0.0f << 0.0f << true << false << "1 0 [-128, 127]";
    }
    void rangesGiveScalesAndZeroPoints() {
        QFETCH(float, min);
        QFETCH(float, max);
        QFETCH(bool, isSigned);
        QFETCH(bool, symmetric);
        QFETCH(QString, expected);
        QCOMPARE(text(quantizerForRange(min, max, {8, isSigned, symmetric})), expected);
    }

    void roundsHalfToEvenAndSaturates() {
        const TensorQuantizer q{0.5f, 10, -128, 127};
        QCOMPARE(simulate(q, 0.25f), 0.0f);   // 0.5 -> 0
        QCOMPARE(simulate(q, 0.75f), 1.0f);   // 1.5 -> 2
        QCOMPARE(simulate(q, -0.25f), 0.0f);  // -0.5 -> -0
        QCOMPARE(simulate(q, 1.25f), 1.0f);   // 2.5 -> 2
        QCOMPARE(simulate(q, 1000.0f), (127 - 10) * 0.5f);
        QCOMPARE(simulate(q, -1000.0f), (-128 - 10) * 0.5f);
    }

    /// The output of AIMET 2.42's operator for values around ties, with the scale and offset of its own
    /// encoding of an input.
    void roundsAsAimet() {
        const TensorQuantizer q{0.01614102896522073f, -5, -128, 127, TieRounding::Aimet};
        const std::pair<float, int> found[] = {
            {0x1.cecb9ep-5f, 4},     {-0x1.be446ap-3f, -13}, {0x1.08742ap-7f, 1},   {-0x1.2982f2p-4f, -4},
            {0x1.1d1d78p-1f, 35},    {0x1.18fb9ap-3f, 9},    {0x1.afce08p+0f, 105}, {-0x1.be4466p-3f, -13},
            {-0x1.efda2cp-4f, -7},   {0x1.2771ccp+0f, 71},   {0x1.055ad6p+1f, 126}, {-0x1.0d9e74p+1f, -123},
            {-0x1.9b2538p+0f, -100}, {0x1.75f486p+0f, 90}};
        for (const auto& [x, code] : found) {
            float y = 0;
            applyFakeQuant(q.fakeQuant(), &x, &y, 1);
            QCOMPARE(y, static_cast<float>(code) * q.scale);
            QCOMPARE(codeOf(q.fakeQuant(), x), static_cast<float>(code));
        }
        // ONNX's rule differs in the first eight.
        TensorQuantizer even = q;
        even.rounding = TieRounding::HalfEven;
        for (std::size_t i = 0; i < 8; ++i)
            QVERIFY(codeOf(even.fakeQuant(), found[i].first) != static_cast<float>(found[i].second));
    }

    void codesTakeAsManyBytesAsTheirRangeNeeds() {
        const auto check = [](std::int32_t least, std::int32_t most, std::size_t bytes) {
            CompactIntegers values(3, least, most);
            QCOMPARE(values.size(), std::size_t{3});
            QCOMPARE(values.bytes(), 3 * bytes);
            values.set(0, least);
            values.set(2, most);
            const CompactIntegers copy(std::vector<std::int32_t>{values[0], values[1], values[2]});
            for (const CompactIntegers& list : {values, copy}) {
                QCOMPARE(list[0], least);
                QCOMPARE(list[1], 0);
                QCOMPARE(list[2], most);
                QCOMPARE(list.bytes(), 3 * bytes);
            }
        };
        check(-128, 127, 1);
        check(-129, 127, 2);
        check(-128, 128, 2);
        check(-32768, 32767, 2);
        check(-32769, 0, 4);
        check(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), 4);
        QVERIFY(CompactIntegers(std::vector<std::int32_t>{}).empty());
        // uint8: the codes that are stored are 0 to 255, around the zero point 128
        const ConstantPtr weight = Constant::fromFloats({2, 2}, {-1, 0.5f, 0.25f, 1});
        QCOMPARE(quantizeWeight(*weight, {8, false, true}, 1).codes.bytes(), std::size_t{4});
    }

    /// Scales that ONNX Runtime 1.31.1's quantize_static gave this Gemm; AIMET's are in preset_oracle_test.
    void weightScalesAreRaisedForTheBias() {
        const ConstantPtr bias = Constant::fromFloats({2}, {0.5f, -3.0f});
        const float input = 0x1.818182p-6f;
        const ConstantPtr each =
            Constant::fromFloats({4, 2}, {0.5f, 1e-9f, -0.25f, 2e-9f, 0.125f, -1e-9f, 1.0f, 5e-10f});
        const ConstantQuantizer channels = quantizeWeight(*each, {8, true, true}, 1);
        const auto raised =
            raisedScales(OperatorSet::OnnxRuntime, {channels, bias.get(), input, nullptr, true});
        QVERIFY(raised.has_value());
        QCOMPARE(*raised, (std::vector<float>{0x1.020408p-7f, 0x1.fe0d0cp-25f}));
        const ConstantQuantizer anew = roundedAnew(channels, *each, *raised, TieRounding::HalfEven);
        QCOMPARE(anew.codes.values(), (std::vector<std::int32_t>{64, 0, -32, 0, 16, 0, 127, 0}));
        const ConstantQuantizer sums = quantizeBias(*bias, 32, input, anew.scales);
        QCOMPARE(sums.saturated, std::size_t{0});
        QCOMPARE(sums.codes.values(), (std::vector<std::int32_t>{2699, -2147268971}));
        const ConstantPtr tiny =
            Constant::fromFloats({4, 2}, {1e-9f, 1e-9f, 2e-9f, 2e-9f, -1e-9f, -1e-9f, 5e-10f, 5e-10f});
        const ConstantQuantizer tensor = quantizeWeight(*tiny, {8, true, false}, 1);
        QCOMPARE(raisedScales(OperatorSet::OnnxRuntime, {tensor, bias.get(), input, nullptr, true}).value(),
                 std::vector<float>{0x1.fe0d0ep-25f});
        // Nothing to do: a bias that fits, a float bias, a tool without this adjustment.
        const ConstantPtr small = Constant::fromFloats({2}, {0.5f, 0.0f});
        QVERIFY(!raisedScales(OperatorSet::OnnxRuntime, {channels, small.get(), input, nullptr, true}));
        QVERIFY(!raisedScales(OperatorSet::OnnxRuntime, {channels, bias.get(), input, nullptr, false}));
        QVERIFY(!raisedScales(OperatorSet::Quark, {channels, bias.get(), input, nullptr, true}));
    }

    /// Otherwise a channel of zeros has scale 1, and its bias is rounded to multiples of the input scale.
    void channelsOfZerosKeepTheirBias() {
        const ConstantPtr weight = Constant::fromFloats({2, 3}, {0.5f, 0, -0.25f, 1, 0, 2});
        const ConstantPtr bias = Constant::fromFloats({3}, {0.5f, 1, -3});
        const ConstantQuantizer channels = quantizeWeight(*weight, {8, true, true}, 1);
        QCOMPARE(channels.scales[1], 1.0f);
        const auto scales = raisedScales(OperatorSet::Layers, {channels, bias.get(), 2.5f, nullptr, true});
        QVERIFY(scales.has_value());
        QCOMPARE(*scales, (std::vector<float>{channels.scales[0], channels.scales[2], channels.scales[2]}));
        // ONNX Runtime does not change it.
        QVERIFY(!raisedScales(OperatorSet::OnnxRuntime, {channels, bias.get(), 2.5f, nullptr, true}));
    }

    void simulationEqualsTheDefinition() {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        for (int round = 0; round < 200; ++round) {
            const float low = -float(random.generateDouble()) * 5, high = float(random.generateDouble()) * 5;
            const TensorQuantizer q = quantizerForRange(low, high, {8, round % 2 == 0, round % 3 == 0});
            std::vector<float> x(77), y(77);
            for (float& value : x) value = float(random.generateDouble() * 14 - 7);
            applyFakeQuant(q.fakeQuant(), x.data(), y.data(), x.size());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double code = std::clamp<double>(double(std::nearbyint(x[i] / q.scale)) + q.zeroPoint,
                                                       q.quantMin, q.quantMax);
                QCOMPARE(y[i], float(code - q.zeroPoint) * q.scale);
            }
        }
    }

    void weightsPerTensor() {
        const ConstantPtr weight = Constant::fromFloats({2, 2}, {7, -3.4f, 0.5f, -7});
        const ConstantQuantizer q = quantizeWeight(*weight, {4, true, false}, 0);
        QCOMPARE(q.scales.size(), 1u);
        QCOMPARE(q.scales[0], 1.0f);
        QCOMPARE(codes(q), "7 -3 0 -7");  // 0.5 rounds to even
        QCOMPARE(q.dequantized->floats()[1], -3.0f);
    }

    void weightsPerChannel() {
        const ConstantPtr weight = Constant::fromFloats({2, 2}, {127, 1, 0, 0});
        const ConstantQuantizer q = quantizeWeight(*weight, {8, true, true}, 0);
        QCOMPARE(q.scales, (std::vector<float>{1, 1}));  // the dead channel gets 1
        QCOMPARE(codes(q), "127 1 0 0");
        const ConstantQuantizer columns = quantizeWeight(*weight, {8, true, true}, 1);
        QCOMPARE(columns.scales, (std::vector<float>{1, 1.0f / 127}));
        QCOMPARE(codes(columns), "127 127 0 0");
    }

    void biasesUseTheProductOfTheScales() {
        const ConstantPtr bias = Constant::fromFloats({2}, {1.0f, -0.26f});
        const ConstantQuantizer q = quantizeBias(*bias, 32, 0.5f, {0.25f, 0.1f});
        QCOMPARE(codes(q), "8 -5");  // 1 / 0.125, -0.26 / 0.05 = -5.2
        QCOMPARE(q.dequantized->floats()[0], 1.0f);
        QCOMPARE(q.axis, 0);
        QCOMPARE(quantizeBias(*Constant::fromFloats({1, 2}, {1, 1}), 32, 0.5f, {0.25f, 0.1f}).axis, 1);
        QCOMPARE(q.saturated, 0u);
        QCOMPARE(quantizeBias(*Constant::fromFloats({1}, {1e10f}), 32, 0.1f, {0.1f}).saturated, 1u);
    }

    void nonFiniteWeightsAreRejected() {
        const ConstantPtr weight = Constant::fromFloats({2}, {1, std::numeric_limits<float>::quiet_NaN()});
        QVERIFY_EXCEPTION_THROWN(quantizeWeight(*weight, {}, 0), Error);
        QVERIFY_EXCEPTION_THROWN(quantizeBias(*weight, 32, 0.5f, {0.25f}), Error);
        // The product of the scales is 0.
        QVERIFY_EXCEPTION_THROWN(quantizeBias(*Constant::fromFloats({1}, {0}), 32, 1e-30f, {1e-30f}), Error);
    }
};

QTEST_GUILESS_MAIN(QuantizerTest)
#include "quantizer_test.moc"
