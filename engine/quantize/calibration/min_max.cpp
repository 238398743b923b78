// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest value over all samples. Never clips a calibration value, but a single outlier
// widens the range for all others. Source: ONNX Runtime's MinMaxCalibrater without moving average. Cost: one
// comparison per value.
#include "quantize/calibration/calibration_method.h"

namespace quantloupe {

CalibrationResult solveMinMax(const TensorStatistics& statistics, const ActivationScheme& scheme,
                              const CalibrationParameters& /*parameters*/) {
    CalibrationResult result;
    result.quantizer = quantizerForRange(statistics.min, statistics.max, scheme);
    return result;
}

}  // namespace quantloupe
