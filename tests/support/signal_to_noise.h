// SPDX-License-Identifier: Apache-2.0
#pragma once
// An independent implementation of SQNR, to check the engine's.

#include <cmath>
#include <span>

namespace quantloupe::test {

/// In dB; 200 if there is no difference. Both must have the same length.
inline double sqnrDb(std::span<const float> reference, std::span<const float> found) {
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double r = double(reference[i]), d = r - double(found[i]);
        signal += r * r;
        noise += d * d;
    }
    return noise == 0 ? 200 : 10 * std::log10(signal / noise);
}

}  // namespace quantloupe::test
