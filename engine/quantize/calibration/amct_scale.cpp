// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/amct_scale.h"

#include <algorithm>
#include <cmath>

namespace quantloupe {

AmctScale amctScale(float min, float max, int bits, bool symmetric) {
    const int half = 1 << (bits - 1);
    AmctScale result;
    if (symmetric) {
        const float low = std::fabs(min), high = std::fabs(max);
        result.scale = std::max(low, high) / static_cast<float>(low > high ? half : half - 1);
        if (result.scale < kAmctLeastScale) result.scale = 1;
        return result;
    }
    min = std::min(min, 0.0f);
    max = std::max(max, 0.0f);
    result.scale = (max - min) / static_cast<float>(2 * half - 1);
    if (result.scale < kAmctLeastScale) return {1, -half};
    result.offset = static_cast<int>(std::nearbyint(-static_cast<float>(half) - min / result.scale));
    return result;
}

TensorQuantizer amctQuantizer(const AmctScale& scale, const ActivationScheme& scheme) {
    TensorQuantizer quantizer = quantizerForRange(0, 1, scheme);  // for the codes
    const int half = 1 << (scheme.bits - 1);
    quantizer.scale = scale.scale;
    quantizer.zeroPoint =
        std::clamp(scale.offset + (scheme.isSigned ? 0 : half), quantizer.quantMin, quantizer.quantMax);
    return quantizer;
}

}  // namespace quantloupe
