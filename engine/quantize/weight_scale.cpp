// SPDX-License-Identifier: Apache-2.0
// Methods for choosing the scale of a weight:
//
// - min_max. Symmetric and restricted: absmax / (2^(bits-1) - 1). Symmetric and unrestricted: the smallest
//   scale with which no weight is clipped, max(max / (2^(bits-1) - 1), -min / 2^(bits-1)), as in AIMET.
//   Affine: (max - min) / (2^bits - 1), with the range extended to include 0.
// - arq (AMCT): like min_max, but absmax / 2^(bits-1) if the smallest weight has the larger magnitude.
// - full_span. Symmetric: 2 absmax / (2^bits - 1), so that all codes are used and absmax itself is clipped.
//   Affine: like min_max.
// - mse: the min_max scale times 1.00, 0.99 ... or 0.01, whichever has the smallest sum of squared errors; of
//   equally good scales, the largest.
//
// With power-of-two scales, min_max rounds to the nearest power of two, mse tries Quark's five candidates
// around it, and arq rounds its own scale. Sources: ONNX Runtime's quant_utils (min_max), Huawei AMCT (arq),
// AMD Quark (powers of two, checked with its XINT8 models). Cost: 100 passes over the weight for mse, one for
// the others. Weakness: the error of the weight is not the error of the output.
#include "quantize/weight_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/calibration/amct_scale.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {
namespace {

constexpr int kMseSteps = 100;

class ScaleFinder {
  public:
    ScaleFinder(std::span<const float> values, const WeightScheme& scheme)
        : m_values(values), m_scheme(scheme) {
        for (const float x : values) {
            m_min = std::min(m_min, x);
            m_max = std::max(m_max, x);
        }
        std::tie(m_low, m_high) = weightCodes(scheme);
        m_middle = scheme.isSigned ? 0 : 1 << (scheme.bits - 1);
    }

    WeightScale find() const {
        if (m_min == 0 && m_max == 0) return plain(1);
        if (m_scheme.method == WeightMethod::Arq) return arq();
        if (m_scheme.powerOfTwo) return powerOfTwo();
        if (m_scheme.method == WeightMethod::MinMax || m_scheme.method == WeightMethod::FullSpan)
            return plain(1);
        WeightScale best = plain(1);
        double least = errorOf(best);
        for (int i = kMseSteps - 1; i >= 1; --i) {
            const WeightScale candidate = plain(static_cast<float>(i) / kMseSteps);
            const double error = errorOf(candidate);
            if (error >= least) continue;
            least = error;
            best = candidate;
        }
        return best;
    }

  private:
    /// Returns the scale without a search (min_max or full_span), for the range multiplied by `ratio`.
    WeightScale plain(float ratio) const {
        if (!m_scheme.symmetric) {
            const TensorQuantizer q =
                quantizerForRange(ratio * m_min, ratio * m_max, {m_scheme.bits, m_scheme.isSigned});
            return {q.scale, q.zeroPoint};
        }
        if (m_scheme.method == WeightMethod::FullSpan) {
            const double span =
                2.0 * static_cast<double>(std::max(m_max, -m_min)) / ((1 << m_scheme.bits) - 1);
            return {span < std::numeric_limits<float>::min() ? 1.0f : static_cast<float>(span), m_middle};
        }
        const int largest = (1 << (m_scheme.bits - 1)) - 1;
        double scale = static_cast<double>(ratio * std::max(m_max, -m_min)) / largest;
        if (!m_scheme.restricted)
            scale = std::max(static_cast<double>(ratio * m_max) / largest,
                             static_cast<double>(ratio * -m_min) / (largest + 1));
        return {scale < std::numeric_limits<float>::min() ? 1.0f : static_cast<float>(scale), m_middle};
    }

    WeightScale arq() const {
        const AmctScale found = amctScale(m_min, m_max, m_scheme.bits, m_scheme.symmetric);
        const int half = 1 << (m_scheme.bits - 1);
        WeightScale result{found.scale,
                           std::clamp(found.offset + (m_scheme.isSigned ? 0 : half), m_low, m_high)};
        if (m_scheme.powerOfTwo) result = atPosition(positionOf(static_cast<double>(result.scale)));
        return result;
    }

    WeightScale powerOfTwo() const {
        const ActivationScheme codes{m_scheme.bits, m_scheme.isSigned, m_scheme.symmetric};
        const int base = basePosition(m_min, m_max, codes);
        if (m_scheme.method != WeightMethod::Mse) return atPosition(base);
        WeightScale best;
        double least = -1;
        for (int i = 0; i < kPositionsTried; ++i) {
            const WeightScale candidate = atPosition(base - kPositionsBelow + i);
            const double error = errorOf(candidate);
            if (least >= 0 && error >= least) continue;
            least = error;
            best = candidate;
        }
        return best;
    }

    WeightScale atPosition(int position) const {
        WeightScale result{scaleOf(position), m_middle};
        if (!m_scheme.symmetric)
            result.zeroPoint =
                std::clamp(m_low - static_cast<int>(std::nearbyint(m_min / result.scale)), m_low, m_high);
        return result;
    }

    double errorOf(const WeightScale& candidate) const {
        const auto low = static_cast<float>(m_low - candidate.zeroPoint),
                   high = static_cast<float>(m_high - candidate.zeroPoint);
        double sum = 0;
        for (const float x : m_values) {
            const float code = std::clamp(std::nearbyint(x / candidate.scale), low, high);
            const double error = static_cast<double>(x) - static_cast<double>(code * candidate.scale);
            sum += error * error;
        }
        return sum;
    }

    std::span<const float> m_values;
    const WeightScheme& m_scheme;
    float m_min = 0, m_max = 0;  // extended to include 0
    int m_low = 0, m_high = 0, m_middle = 0;
};

}  // namespace

std::pair<int, int> weightCodes(const WeightScheme& scheme) {
    const int half = 1 << (scheme.bits - 1);
    const bool restricted = scheme.symmetric && scheme.restricted && scheme.method != WeightMethod::Arq &&
                            scheme.method != WeightMethod::FullSpan;
    const int low = (scheme.isSigned ? -half : 0) + (restricted ? 1 : 0);
    return {low, scheme.isSigned ? half - 1 : 2 * half - 1};
}

WeightScale weightScale(std::span<const float> values, const WeightScheme& scheme) {
    return ScaleFinder(values, scheme).find();
}

}  // namespace quantloupe
