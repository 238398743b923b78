// SPDX-License-Identifier: Apache-2.0
#pragma once
// A check that involves several calibration parameters.

#include <string>

#include "config/calibration_config.h"

namespace quantloupe {

/// Throws Error if the step is larger than the search range [start, end], with a tolerance for binary
/// fractions (a step of 0.6 fits [0.7, 1.3], although 1.3 - 0.7 is slightly less than 0.6 in binary), or if
/// it divides the range into more than 100,000 parts. `path` is what the message begins with, such as
/// "calibration.parameters.".
void checkSearchStep(const std::string& path, double step, double start, double end);

/// Calls checkSearchStep() if a search range and a step are set. `path` is the key of the parameters, or
/// empty.
void requireSearchStep(const std::string& path, const CalibrationParameters& parameters);

}  // namespace quantloupe
