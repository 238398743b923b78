// SPDX-License-Identifier: Apache-2.0
// The power of two nearest (in the logarithm) to the scale of the full range: position = round(-log2(scale)),
// scale = 2^-position. It is the nearest one, not the next larger one: despite the name, up to a factor of
// sqrt(2) of the range may be clipped. Source: AMD Quark, PowerOfTwoMethod.NonOverflow. Cost: as min_max.
#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {

CalibrationResult solvePowerOfTwoNonOverflow(const TensorStatistics& statistics,
                                             const ActivationScheme& scheme,
                                             const CalibrationParameters& /*parameters*/) {
    CalibrationResult result;
    result.quantizer = powerOfTwoQuantizer(statistics.min, statistics.max, scheme,
                                           basePosition(statistics.min, statistics.max, scheme));
    return result;
}

}  // namespace quantloupe
