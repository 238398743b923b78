// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values to calibrate on. They are the same on every machine and in the golden vectors of the tests.

#include <cmath>
#include <cstdint>
#include <vector>

namespace quantloupe::test {

/// Sums of 12 uniform numbers of a linear congruential generator: nearly normal.
inline std::vector<float> bell(int count) {
    std::uint32_t seed = 12345;
    std::vector<float> values;
    for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int k = 0; k < 12; ++k) {
            seed = 1664525u * seed + 1013904223u;
            sum += double(seed) / 4294967296.0;
        }
        values.push_back(float(sum - 6));
    }
    return values;
}

/// 1001 values from -1 to 3 in equal steps, in mixed order.
inline std::vector<float> ramp() {
    std::vector<float> values;
    for (int i = 0; i <= 1000; ++i) values.push_back(float(double((i * 37) % 1001) / 1000 * 4 - 1));
    return values;
}

/// Returns whether `a` is within a relative tolerance of `b`.
inline bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

}  // namespace quantloupe::test
