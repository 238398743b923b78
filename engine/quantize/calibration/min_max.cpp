// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest value that any sample had. Never clips a calibration value; a single outlier widens the range for
// all others. Source: ONNX Runtime's MinMaxCalibrater without moving average. Cost: one comparison a value.
#include "quantize/calibration/calibration_method.h"

namespace quantloupe {

CalibrationResult solveMinMax(const TensorStatistics& statistics, const ActivationScheme& scheme) {
    CalibrationResult result;
    result.quantizer = quantizerForRange(statistics.min, statistics.max, scheme);
    return result;
}

}  // namespace quantloupe
