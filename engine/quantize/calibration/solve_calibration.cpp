// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/error.h"
#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {
namespace {

CalibrationResult solve(const TensorStatistics& statistics, const ActivationScheme& scheme,
                        CalibrationMethod method, const CalibrationParameters& parameters) {
    switch (method) {
        case CalibrationMethod::MinMax:
            return solveMinMax(statistics, scheme);
        case CalibrationMethod::MovingAverage:
            return solveMovingAverage(statistics, scheme, parameters);
        case CalibrationMethod::Percentile:
            return solvePercentile(statistics, scheme, parameters);
        case CalibrationMethod::Entropy:
            return solveEntropy(statistics, scheme, parameters);
        case CalibrationMethod::Mse:
            return solveMse(statistics, scheme, parameters);
        case CalibrationMethod::TfEnhanced:
            return solveTfEnhanced(statistics, scheme);
        case CalibrationMethod::PowerOfTwoNonOverflow:
            return solvePowerOfTwoNonOverflow(statistics, scheme);
        case CalibrationMethod::PowerOfTwoMinMse:
            return solvePowerOfTwoMinMse(statistics, scheme, parameters);
        case CalibrationMethod::Ifmr:
            return solveIfmr(statistics, scheme, parameters);
        case CalibrationMethod::Hfmg:
            return solveHfmg(statistics, scheme, parameters);
    }
    return solveMinMax(statistics, scheme);
}

/// Rounds the scale and adjusts the zero point so that the lower end of the range stays the same.
void roundToPowerOfTwo(TensorQuantizer& quantizer, const ActivationScheme& scheme) {
    const float low = quantizer.fakeQuant().low * quantizer.scale;
    quantizer.scale = scaleOf(positionOf(static_cast<double>(quantizer.scale)));
    if (!scheme.symmetric)
        quantizer.zeroPoint =
            std::clamp(quantizer.quantMin - static_cast<int>(std::nearbyint(low / quantizer.scale)),
                       quantizer.quantMin, quantizer.quantMax);
}

}  // namespace

bool needsDistribution(CalibrationMethod method) {
    return method != CalibrationMethod::MinMax && method != CalibrationMethod::MovingAverage &&
           method != CalibrationMethod::PowerOfTwoNonOverflow;
}

bool needsVotes(CalibrationMethod method, const CalibrationParameters& parameters) {
    return method == CalibrationMethod::PowerOfTwoMinMse &&
           parameters.mode.value_or(PowerOfTwoMode::All) == PowerOfTwoMode::MostCommon;
}

CalibrationResult solveCalibration(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                   CalibrationMethod method, const CalibrationParameters& parameters) {
    if (statistics.min == 0 && statistics.max == 0) {
        CalibrationResult nothing = solveMinMax(statistics, scheme);
        nothing.notice = "all values are 0 in all calibration samples";
        return nothing;
    }
    if (needsDistribution(method) && !statistics.distribution)
        fail(ErrorKind::Internal, "the distribution of a tensor was not collected");
    CalibrationResult result = solve(statistics, scheme, method, parameters);
    // For values near the limits of float32, bins have no valid width.
    if (!std::isfinite(result.quantizer.scale) ||
        result.quantizer.scale < std::numeric_limits<float>::min()) {
        result = solveMinMax(statistics, scheme);
        result.notice = "its values are too small or too large for the method; min_max is used instead";
    }
    if (scheme.powerOfTwo) roundToPowerOfTwo(result.quantizer, scheme);
    return result;
}

}  // namespace quantloupe
