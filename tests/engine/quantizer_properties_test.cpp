// SPDX-License-Identifier: Apache-2.0
// Properties of every quantization scheme, on random ranges and weights. Prints its seed; QUANTLOUPE_SEED
// repeats a run.
#include <fmt/format.h>

#include <QtTest/QtTest>
#include <algorithm>
#include <cmath>
#include <random>

#include "quantize/quantizer.h"
#include "runtime/integer/fake_quant.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

double squaredError(const Constant& weight, const ConstantQuantizer& quantizer) {
    double sum = 0;
    for (std::size_t i = 0; i < quantizer.codes.size(); ++i) {
        const double d = double(weight.floats()[i]) - double(quantizer.dequantized->floats()[i]);
        sum += d * d;
    }
    return sum;
}

}  // namespace

class QuantizerPropertiesTest : public QObject {
    Q_OBJECT

    std::mt19937 m_random;

    float uniform(float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(m_random);
    }

    ActivationScheme randomScheme() {
        ActivationScheme scheme;
        scheme.bits = std::uniform_int_distribution<int>(2, 16)(m_random);
        scheme.isSigned = m_random() % 2 == 0;
        scheme.symmetric = m_random() % 2 == 0;
        scheme.powerOfTwo = m_random() % 4 == 0;
        return scheme;
    }

  private Q_SLOTS:
    void initTestCase() { m_random.seed(test::randomSeed()); }

    void activations() {
        for (int round = 0; round < 2000; ++round) {
            const float magnitude = std::pow(10.0f, uniform(-6, 6));
            const float a = uniform(-1, 1) * magnitude, b = uniform(-1, 1) * magnitude;
            const float low = std::min({a, b, 0.0f}), high = std::max({a, b, 0.0f});
            const ActivationScheme scheme = randomScheme();
            const TensorQuantizer q = quantizerForRange(std::min(a, b), std::max(a, b), scheme);
            const std::string what = fmt::format(
                "[{}, {}] {} bits, signed {}, symmetric {}, power of two {}: scale {} zero {}", low, high,
                scheme.bits, scheme.isSigned, scheme.symmetric, scheme.powerOfTwo, q.scale, q.zeroPoint);
            const FakeQuant quant = q.fakeQuant();
            QVERIFY2(q.scale > 0 && std::isfinite(q.scale) && q.zeroPoint >= q.quantMin &&
                         q.zeroPoint <= q.quantMax,
                     what.c_str());

            // Zero and every code are mapped to themselves.
            const int codes = q.quantMax - q.quantMin + 1, step = std::max(1, codes / 257);
            std::vector<float> values, found;
            for (int code = q.quantMin; code <= q.quantMax; code += step)
                values.push_back(static_cast<float>(code - q.zeroPoint) * q.scale);
            values.push_back(0);
            found.resize(values.size());
            applyFakeQuant(quant, values.data(), found.data(), values.size());
            QVERIFY2(found == values, what.c_str());

            // The mapping is monotonic; within the range no value is off by more than half a step, with a
            // small tolerance at the ends.
            for (float& value : values) value = uniform(1.2f * low, 1.2f * high);
            std::sort(values.begin(), values.end());
            applyFakeQuant(quant, values.data(), found.data(), values.size());
            QVERIFY2(std::is_sorted(found.begin(), found.end()), what.c_str());
            if (scheme.powerOfTwo || (scheme.symmetric && !scheme.isSigned)) continue;  // those may clip
            for (std::size_t i = 0; i < values.size(); ++i)
                if (values[i] >= low && values[i] <= high)
                    QVERIFY2(std::fabs(found[i] - values[i]) <= 1.001f * q.scale, what.c_str());
        }
    }

    void sixteenBitsChangeAlmostNothing() {
        for (int round = 0; round < 200; ++round) {
            const float low = uniform(-5, 0), high = uniform(0.1f, 5);
            const FakeQuant quant =
                quantizerForRange(low, high, {.bits = 16, .isSigned = false, .symmetric = false}).fakeQuant();
            std::vector<float> values(1000), found(1000);
            for (float& value : values) value = uniform(low, high);
            applyFakeQuant(quant, values.data(), found.data(), values.size());
            for (std::size_t i = 0; i < values.size(); ++i)
                QVERIFY(std::fabs(found[i] - values[i]) <= 1e-3f * (high - low));
        }
    }

    void weights() {
        double perChannel = 0, perTensor = 0;
        for (int round = 0; round < 1000; ++round) {
            std::normal_distribution<float> normal(0, 1);
            std::vector<float> values(8 * 27);
            for (std::size_t c = 0; c < 8; ++c) {
                const float spread = std::pow(10.0f, uniform(-1, 1));
                for (std::size_t i = 0; i < 27; ++i) values[c * 27 + i] = normal(m_random) * spread;
            }
            const ConstantPtr weight = Constant::fromFloats({8, 3, 3, 3}, std::move(values));
            WeightScheme scheme;
            scheme.bits = 2 + static_cast<int>(m_random() % 7);
            scheme.restricted = m_random() % 2 == 0;
            scheme.symmetric = m_random() % 2 == 0;
            const ConstantQuantizer one = quantizeWeight(*weight, scheme, 0);
            scheme.perChannel = true;
            const ConstantQuantizer each = quantizeWeight(*weight, scheme, 0);
            perTensor += squaredError(*weight, one);
            perChannel += squaredError(*weight, each);
            for (const ConstantQuantizer* q : {&one, &each}) {
                // Quantizing dequantized values gives the same codes.
                for (std::size_t i = 0; i < q->codes.size(); ++i) {
                    const std::size_t channel = q->scales.size() == 1 ? 0 : i / 27;
                    const int stored = q->codes[i] + q->zeroPoints[channel];
                    QVERIFY(stored >= q->quantMin && stored <= q->quantMax);
                    QCOMPARE(std::lround(q->dequantized->floats()[i] / q->scales[channel]),
                             long{q->codes[i]});
                }
            }
        }
        QVERIFY2(perChannel <= perTensor, qPrintable(QString("%1 > %2").arg(perChannel).arg(perTensor)));
    }
};

QTEST_GUILESS_MAIN(QuantizerPropertiesTest)
#include "quantizer_properties_test.moc"
