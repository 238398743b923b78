// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/error.h"
#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {
namespace {

const CalibrationMethodTraits& traitsOf(CalibrationMethod method) {
    for (const CalibrationMethodTraits& traits : kCalibrationMethodTraits)
        if (traits.method == method) return traits;
    fail(ErrorKind::Internal, "a calibration method is missing in kCalibrationMethodTraits");
}

}  // namespace

bool needsDistribution(CalibrationMethod method) { return traitsOf(method).needsDistribution; }

bool needsVotes(CalibrationMethod method, const CalibrationParameters& parameters) {
    return method == CalibrationMethod::PowerOfTwoMinMse &&
           withDefaults(method, parameters).mode == PowerOfTwoMode::MostCommon;
}

CalibrationResult solveCalibration(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                   CalibrationMethod method, const CalibrationParameters& given) {
    const CalibrationParameters parameters = withDefaults(method, given);
    // Only layers in float read such tensors (requireFinite()); nothing else was collected.
    if (!statistics.notFinite.empty()) return solveMinMax(statistics, scheme, parameters);
    if (statistics.min == 0 && statistics.max == 0) {
        CalibrationResult nothing = solveMinMax(statistics, scheme, parameters);
        nothing.notice = "all values are 0 in all calibration samples";
        return nothing;
    }
    if (needsDistribution(method) && !statistics.distribution)
        fail(ErrorKind::Internal, "the distribution of a tensor was not collected");
    CalibrationResult result = traitsOf(method).solve(statistics, scheme, parameters);
    // For values near the limits of float32, bins have no valid width.
    const bool huge = needsDistribution(method) &&
                      std::max(-statistics.min, statistics.max) > std::numeric_limits<float>::max() / 2;
    if (huge || !std::isfinite(result.quantizer.scale) ||
        result.quantizer.scale < std::numeric_limits<float>::min()) {
        result = solveMinMax(statistics, scheme, parameters);
        result.notice = "its values are too small or too large for the method; min_max is used instead";
    }
    if (scheme.powerOfTwo) roundToPowerOfTwo(result.quantizer, scheme);
    return result;
}

}  // namespace quantloupe
