// SPDX-License-Identifier: Apache-2.0
#pragma once
// A check that involves several calibration parameters.

#include <string>

#include "config/calibration_config.h"

namespace quantloupe {

/// Returns whether the step is at most as large as the search range, with a tolerance for binary fractions: a
/// step of 0.6 fits [0.7, 1.3], although 1.3 - 0.7 is slightly less than 0.6 in binary.
inline bool stepFits(double step, double start, double end) { return step <= end - start + 1e-9; }

/// Throws Error if a search range and a step are set and the step is larger than the range. `path` is the key
/// of the parameters, or empty.
void requireSearchStep(const std::string& path, const CalibrationParameters& parameters);

}  // namespace quantloupe
