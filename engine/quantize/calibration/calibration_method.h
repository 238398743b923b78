// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the statistics of a tensor to its quantizer: one function a method, each in a file of its own, and the choice between them.
// All are pure functions; any thread. docs/calibration.md describes the methods to the person who chooses one.

#include <map>
#include <memory>
#include <string>

#include "config/calibration_config.h"
#include "quantize/calibration/range_history.h"
#include "quantize/calibration/value_distribution.h"
#include "quantize/quantizer.h"

namespace quantloupe {

/// How often each position (scale 2^-position) was the best of a sample.
using PositionVotes = std::map<int, std::uint64_t>;

/// What is known of one tensor's values over the calibration samples.
struct TensorStatistics {
    float min = 0, max = 0;
    std::uint64_t count = 0;
    RangeHistory history;
    float firstMin = 0, firstMax = 0;  ///< of the first sample that is not all zero
    std::shared_ptr<const ValueDistribution> distribution;  ///< null: not gathered
    std::map<int, PositionVotes> votes;                     ///< by bits; empty: not gathered
};

struct CalibrationResult {
    TensorQuantizer quantizer;
    double loss = -1;          ///< the mean squared error that the method minimized; negative: it has none
    int index = -1;            ///< which candidate was chosen, and of how many
    int candidates = 0;
    bool approximate = false;  ///< computed on a histogram where the method asks for the values themselves
    std::string notice;        ///< what the person should know of this tensor; empty: nothing
};

/// Needs more than min, max and history.
bool needsDistribution(CalibrationMethod method);
/// Needs votes (for the bits of the scheme).
bool needsVotes(CalibrationMethod method, const CalibrationParameters& parameters);

/// By the method. A tensor that is all zero gets scale 1; the range of every method holds 0. With scheme.powerOfTwo the scale is
/// then rounded to the nearest power of two. The distribution (votes) must be there where the method needs it.
CalibrationResult solveCalibration(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                   CalibrationMethod method, const CalibrationParameters& parameters);

// The methods. They may assume that the tensor is not all zero, and must not care for scheme.powerOfTwo.
CalibrationResult solveMinMax(const TensorStatistics& statistics, const ActivationScheme& scheme);
CalibrationResult solveMovingAverage(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                     const CalibrationParameters& parameters);
CalibrationResult solvePercentile(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                  const CalibrationParameters& parameters);
CalibrationResult solveEntropy(const TensorStatistics& statistics, const ActivationScheme& scheme,
                               const CalibrationParameters& parameters);
CalibrationResult solveMse(const TensorStatistics& statistics, const ActivationScheme& scheme,
                           const CalibrationParameters& parameters);
CalibrationResult solveTfEnhanced(const TensorStatistics& statistics, const ActivationScheme& scheme);
CalibrationResult solvePowerOfTwoNonOverflow(const TensorStatistics& statistics, const ActivationScheme& scheme);
CalibrationResult solvePowerOfTwoMinMse(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                        const CalibrationParameters& parameters);
CalibrationResult solveIfmr(const TensorStatistics& statistics, const ActivationScheme& scheme,
                            const CalibrationParameters& parameters);
CalibrationResult solveHfmg(const TensorStatistics& statistics, const ActivationScheme& scheme,
                            const CalibrationParameters& parameters);

}  // namespace quantloupe
