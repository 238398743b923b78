// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/power_of_two.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quantloupe {

int positionOf(double scale) {
    constexpr double kMost = kLargestPosition;
    return static_cast<int>(std::clamp(std::nearbyint(-std::log2(scale)), -kMost, kMost));
}

float scaleOf(int position) { return std::ldexp(1.0f, -position); }

int basePosition(float min, float max, const ActivationScheme& scheme) {
    min = std::min(min, 0.0f);
    max = std::max(max, 0.0f);
    const int codes = 1 << scheme.bits;
    const float absmax = std::max(-min, max);
    const float width = scheme.symmetric ? absmax - -absmax : max - min;
    const int steps = scheme.symmetric && scheme.isSigned ? codes - 2 : codes - 1;
    if (!std::isfinite(width)) return positionOf(2.0 * static_cast<double>(absmax) / steps);
    const float scale = width / static_cast<float>(steps);
    return scale < std::numeric_limits<float>::min() ? 0 : positionOf(static_cast<double>(scale));
}

TensorQuantizer powerOfTwoQuantizer(float min, float max, const ActivationScheme& scheme, int position) {
    TensorQuantizer quantizer = quantizerForRange(min, max, scheme);  // for the codes
    quantizer.scale = scaleOf(position);
    if (!scheme.symmetric)
        quantizer.zeroPoint =
            std::clamp(static_cast<int>(std::nearbyint(static_cast<float>(quantizer.quantMin) -
                                                       std::min(min, 0.0f) / quantizer.scale)),
                       quantizer.quantMin, quantizer.quantMax);
    return quantizer;
}

void roundToPowerOfTwo(TensorQuantizer& quantizer, const ActivationScheme& scheme) {
    const float low = quantizer.fakeQuant().low * quantizer.scale;
    quantizer.scale = scaleOf(positionOf(static_cast<double>(quantizer.scale)));
    if (!scheme.symmetric)
        quantizer.zeroPoint =
            std::clamp(quantizer.quantMin - static_cast<int>(std::nearbyint(low / quantizer.scale)),
                       quantizer.quantMin, quantizer.quantMax);
}

}  // namespace quantloupe
