// SPDX-License-Identifier: Apache-2.0
#pragma once
// What calibration parameters must satisfy together.

#include <string>

#include "config/calibration_config.h"

namespace quantloupe {

/// Whether a step fits into a search range of this width. Decimal numbers are not binary ones: [0.7, 1.3]
/// admits a step of 0.6, although 1.3 - 0.7 is slightly less in binary.
inline bool stepFits(double step, double start, double end) { return step <= end - start + 1e-9; }

/// Throws Error if both a search range and a step are set and the step is larger than the range is wide.
/// `path` is the key of the parameters, or empty.
void requireSearchStep(const std::string& path, const CalibrationParameters& parameters);

}  // namespace quantloupe
