// SPDX-License-Identifier: Apache-2.0
// Rounding to float16: all values, and all borders between neighbors.
#include "base/half.h"

#include <QtTest>

#include "runtime/integer/fake_quant.h"

using namespace quantloupe;

namespace {

/// Rounds like the kernel, which may be vectorized.
std::vector<float> rounded(const std::vector<float>& values) {
    std::vector<float> result(values.size());
    applyFakeQuant({.half = true}, values.data(), result.data(), values.size());
    return result;
}

}  // namespace

class HalfTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyHalfKeepsItsValueAndBits() {
        std::vector<float> values;
        for (unsigned bits = 0; bits < 65536; ++bits) {
            const float value = halfToFloat(static_cast<std::uint16_t>(bits));
            if (std::isnan(value)) continue;
            QCOMPARE(floatToHalf(value), static_cast<std::uint16_t>(bits));
            values.push_back(value);
        }
        QCOMPARE(rounded(values), values);
    }

    /// Between two neighbors, the midpoint goes to the one with an even last bit and everything else to the
    /// nearer one. The neighbor of the largest value would be 65536.
    void midpointsAreRoundedToEven() {
        std::vector<float> values, expected;
        for (unsigned bits = 0; bits < 0x7C00; ++bits) {
            const float low = halfToFloat(static_cast<std::uint16_t>(bits));
            const bool last = bits == 0x7BFF;
            const float high = last ? 65536.0f : halfToFloat(static_cast<std::uint16_t>(bits + 1));
            const float top = last ? std::numeric_limits<float>::infinity() : high;
            const float middle = (low + high) / 2;
            for (const float sign : {1.0f, -1.0f}) {
                values.insert(values.end(), {sign * std::nextafter(middle, 0.0f), sign * middle,
                                             sign * std::nextafter(middle, 1e6f)});
                expected.insert(expected.end(), {sign * low, sign * (bits % 2 == 0 ? low : top), sign * top});
            }
        }
        QCOMPARE(rounded(values), expected);
    }

    void specialValues() {
        const float infinity = std::numeric_limits<float>::infinity();
        QCOMPARE(rounded({1e10f, -1e10f, infinity, -infinity}),
                 (std::vector<float>{infinity, -infinity, infinity, -infinity}));
        QVERIFY(std::isnan(roundToHalf(NAN)));
        QVERIFY(std::signbit(roundToHalf(-1e-20f)) && roundToHalf(-1e-20f) == 0.0f);
    }
};

QTEST_APPLESS_MAIN(HalfTest)
#include "half_test.moc"
