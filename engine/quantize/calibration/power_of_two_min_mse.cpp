// SPDX-License-Identifier: Apache-2.0
// Tries five power-of-two scales around that of the full range (one larger scale, the scale itself, three
// smaller ones) and chooses the one with the smallest sum of squared errors.
//
// - Mode All: one decision for all samples, on the bin centers of a histogram over [min, max]. Ties go to the
//   larger scale.
// - Mode MostCommon: one decision for each sample on its own values (votes), of which the most frequent scale
//   wins. Ties go to the smaller scale. Only for symmetric schemes.
//
// Source: AMD Quark, PowerOfTwoMethod.MinMSE (its histogram grows from the first sample's range in bins of
// that width; ours divides the final range, as if all samples came at once). Cost: 5 * bins. Weakness: the
// scales are a factor of 2 apart.
#include <cmath>

#include "base/error.h"
#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {
namespace {

/// Returns the sum of squared errors on the bin centers. `withoutLowest`: the lowest code is not used, as in
/// Quark.
double errorOnCenters(const Histogram& histogram, const TensorQuantizer& quantizer, bool withoutLowest) {
    const float low = static_cast<float>(quantizer.quantMin + (withoutLowest ? 1 : 0) - quantizer.zeroPoint);
    const float high = static_cast<float>(quantizer.quantMax - quantizer.zeroPoint);
    double sum = 0;
    for (std::size_t i = 0; i < histogram.bins(); ++i) {
        if (histogram.counts()[i] == 0) continue;
        const auto center = static_cast<float>(
            (static_cast<double>(histogram.edge(i)) + static_cast<double>(histogram.edge(i + 1))) / 2);
        const float code = std::clamp(std::nearbyint(center / quantizer.scale), low, high);
        const double error =
            static_cast<double>(center) - static_cast<double>(code) * static_cast<double>(quantizer.scale);
        sum += static_cast<double>(histogram.counts()[i]) * error * error;
    }
    return sum;
}

CalibrationResult mostCommon(const TensorStatistics& statistics, const ActivationScheme& scheme) {
    const auto votes = statistics.votes.find(scheme.bits);
    if (votes == statistics.votes.end() || votes->second.empty())
        fail(ErrorKind::Internal, "there are no votes for a power-of-two scale of {} bits", scheme.bits);
    int position = 0;
    std::uint64_t most = 0;
    // In ascending order of positions, so that ties go to the smaller scale.
    for (const auto& [candidate, count] : votes->second)
        if (count >= most) {
            most = count;
            position = candidate;
        }
    CalibrationResult result;
    result.quantizer = powerOfTwoQuantizer(statistics.min, statistics.max, scheme, position);
    return result;
}

}  // namespace

CalibrationResult solvePowerOfTwoMinMse(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                        const CalibrationParameters& parameters) {
    const bool votes = needsVotes(CalibrationMethod::PowerOfTwoMinMse, parameters);
    if (votes && scheme.symmetric) return mostCommon(statistics, scheme);
    const Histogram histogram =
        statistics.distribution->range.coarsened(static_cast<std::size_t>(*parameters.bins));
    const int base = basePosition(statistics.min, statistics.max, scheme);
    CalibrationResult result;
    if (votes) result.notice = "the mode most_common needs symmetric activations, so the mode all is used";
    result.candidates = kPositionsTried;
    for (int i = 0; i < kPositionsTried; ++i) {
        const TensorQuantizer quantizer =
            powerOfTwoQuantizer(statistics.min, statistics.max, scheme, base - kPositionsBelow + i);
        const double error = errorOnCenters(histogram, quantizer, scheme.symmetric && scheme.isSigned);
        if (result.index >= 0 && error >= result.loss) continue;
        result.loss = error;
        result.index = i;
        result.quantizer = quantizer;
    }
    result.loss /= static_cast<double>(std::max<std::uint64_t>(statistics.distribution->count, 1));
    result.approximate = true;
    return result;
}

}  // namespace quantloupe
