// SPDX-License-Identifier: Apache-2.0
// AIMET's "TF-enhanced" scheme: tries a fixed set of scales and offsets and chooses the pair with the
// smallest expected error over a histogram (sqnr_grid.h). Clipping errors have three times the weight of
// rounding errors.
//
// Terms: delta is the scale, offset the code of the smallest value (at most 0), and steps = 2^bits - 1.
//
// - Affine: 17 scales (1/16 to 17/16 of the full range's scale) times 21 offsets, limited to the observed
//   range, and the observed range itself.
// - Symmetric: 101 scales, 1/100 to 101/100 of the full range's scale.
//
// The largest scale exceeds that of the full range, so that rounding errors cannot exclude the full range.
// Source: the behavior of the released aimet-onnx 2.42, measured on small tensors. The source code that was
// published earlier has 512 buckets and uses a limited scale for the following offsets, too. All in float32.
// Cost: 360 * 1536. Weaknesses: the histogram covers three times the range of the first sample, is coarse for
// long tails, and scales are tried in steps of 1/16 only.
#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {
namespace {

constexpr float kSaturationWeight = 3.0f;
constexpr float kLeastRange = 0.01f;
constexpr int kBuckets = SqnrGrid::kBuckets;

struct Candidate {
    float delta;
    int offset;
};

class SqnrSearch {
  public:
    SqnrSearch(const SqnrGrid& grid, int bits) : m_steps(static_cast<float>((1 << bits) - 1)) {
        double total = 0;
        for (int i = 0; i < kBuckets; ++i) total += static_cast<double>(grid.count(i));
        for (int i = 0; i < kBuckets; ++i)
            m_share.push_back(static_cast<double>(grid.count(i)) / std::max(total, 1.0));
        m_start = static_cast<float>(grid.left(0));
        m_width = static_cast<float>(grid.left(1) - grid.left(0));
        int first = 0, last = kBuckets - 1;
        while (first < kBuckets - 1 && grid.count(first) == 0) ++first;
        while (last > 0 && grid.count(last) == 0) --last;
        m_min = std::min(static_cast<float>(grid.left(first)), 0.0f);
        m_max = std::max({static_cast<float>(grid.left(last)), 0.0f, m_min + kLeastRange});
    }

    std::vector<Candidate> symmetric() const {
        const float full = 2 * std::max(std::fabs(m_max), std::fabs(m_min)) / m_steps;
        const int offset = static_cast<int>(std::floor(-m_steps / 2));
        std::vector<Candidate> candidates;
        for (float f = 1.0f / 100; f <= 1 + 1.0 / 100; f += static_cast<float>(1.0 / 100))
            candidates.push_back({f * full, offset});
        return candidates;
    }

    std::vector<Candidate> affine() const {
        const float delta = (m_max - m_min) / m_steps;
        const int offset = static_cast<int>(std::round(m_min / delta));
        const float min = delta * static_cast<float>(offset), max = min + delta * m_steps;
        std::vector<Candidate> candidates;
        for (float f = 1.0f / 16; f <= 1 + 1.0 / 16; f += 1.0f / 16) {
            for (int i = 0; i <= 20; ++i) {
                float step = f * delta;
                int tested =
                    static_cast<int>(static_cast<double>(-m_steps) + static_cast<double>(m_steps) / 20.0 * i);
                float low = step * static_cast<float>(tested), high = low + step * m_steps;
                if (low < min && high > max) continue;
                low = std::max(min, low);
                high = std::min(max, high);
                if (high <= low) continue;
                step = (high - low) / m_steps;
                tested = static_cast<int>(std::round(low / step));
                candidates.push_back({step, tested});
            }
        }
        candidates.push_back({delta, offset});
        return candidates;
    }

    /// Computes the expected error in float32, but products in double, as AIMET does.
    float cost(const Candidate& candidate) const {
        const float low = candidate.delta * static_cast<float>(candidate.offset),
                    high = candidate.delta * m_steps + low;
        const int first = bucketOf(low), last = bucketOf(high);
        const float lowest = middle(first), highest = middle(last);
        float below = 0, above = 0, rounded = 0;
        const auto add = [](float& sum, double share, float error) {
            sum = static_cast<float>(static_cast<double>(sum) +
                                     share * (static_cast<double>(error) * static_cast<double>(error)));
        };
        for (int i = 0; i < first; ++i) add(below, share(i), middle(i) - lowest);
        for (int i = last; i < kBuckets; ++i) add(above, share(i), middle(i) - highest);
        for (int i = first; i < last; ++i) {
            if (share(i) == 0) continue;
            const float value = middle(i);
            const int code =
                static_cast<int>(std::round(value / candidate.delta - static_cast<float>(candidate.offset)));
            add(rounded, share(i), value - candidate.delta * static_cast<float>(code + candidate.offset));
        }
        return kSaturationWeight * (below + above) + rounded;
    }

  private:
    double share(int bucket) const { return m_share[static_cast<std::size_t>(bucket)]; }
    float middle(int bucket) const { return m_start + static_cast<float>(bucket) * m_width + m_width / 2; }
    int bucketOf(float value) const {
        return std::clamp(static_cast<int>(std::floor((value - m_start) / m_width)), 0, kBuckets - 1);
    }

    float m_steps, m_start = 0, m_width = 0, m_min = 0, m_max = 0;
    std::vector<double> m_share;
};

}  // namespace

CalibrationResult solveTfEnhanced(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                  const CalibrationParameters& /*parameters*/) {
    const SqnrSearch search(statistics.distribution->grid, scheme.bits);
    CalibrationResult result;
    Candidate best{1, 0};
    float least = std::numeric_limits<float>::max();
    const std::vector<Candidate> candidates = scheme.symmetric ? search.symmetric() : search.affine();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const float cost = search.cost(candidates[i]);
        if (cost >= least) continue;
        least = cost;
        best = candidates[i];
        result.index = static_cast<int>(i);
    }
    result.loss = static_cast<double>(least);
    result.candidates = static_cast<int>(candidates.size());
    TensorQuantizer& quantizer = result.quantizer;
    quantizer = quantizerForRange(0, 1, scheme);  // for the codes
    quantizer.scale = best.delta;
    quantizer.zeroPoint =
        std::clamp(quantizer.quantMin - best.offset, quantizer.quantMin, quantizer.quantMax);
    return result;
}

}  // namespace quantloupe
