// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calibration methods: they turn the statistics of a tensor into its quantizer. Each method is a function in
// its own file, listed in kCalibrationMethodTraits; solveCalibration() selects one. All are pure functions
// and may be called from any thread. The methods are described for users in docs/calibration.md.

#include <map>
#include <memory>
#include <string>

#include "config/calibration_config.h"
#include "quantize/calibration/range_history.h"
#include "quantize/calibration/value_distribution.h"
#include "quantize/quantizer.h"

namespace quantloupe {

/// Number of samples for which each position (scale 2^-position) was the best.
using PositionVotes = std::map<int, std::uint64_t>;

/// Statistics of one tensor's values over the calibration samples.
struct TensorStatistics {
    float min = 0, max = 0;
    std::uint64_t count = 0;
    RangeHistory history;
    float firstMin = 0, firstMax = 0;                       ///< of the first sample that is not all zero
    std::shared_ptr<const ValueDistribution> distribution;  ///< null: not collected
    std::map<int, PositionVotes> votes;                     ///< by bit width; empty: not collected
    /// The first sample for which a value is NaN or infinite; empty: none. Samples like this one are not
    /// counted.
    std::string notFinite;
};

struct CalibrationResult {
    TensorQuantizer quantizer;
    double loss = -1;  ///< the mean squared error that the method minimized; negative: not applicable
    int index = -1;    ///< index of the chosen candidate
    int candidates = 0;
    bool approximate = false;  ///< computed from a histogram although the method is defined on the values
    std::string notice;        ///< notice about this tensor for the user; mostly empty
};

/// Returns whether the method needs more than minimum, maximum and history.
bool needsDistribution(CalibrationMethod method);
/// Returns whether the method needs votes (for the bit width of the scheme).
bool needsVotes(CalibrationMethod method, const CalibrationParameters& parameters);

/// Computes the quantizer with the given method. A tensor of zeros gets scale 1; every method widens the
/// range to include 0. With scheme.powerOfTwo the scale is then rounded to the nearest power of two.
/// `statistics` must contain the distribution or the votes if the method needs them.
CalibrationResult solveCalibration(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                   CalibrationMethod method, const CalibrationParameters& given);

using CalibrationSolver = CalibrationResult(const TensorStatistics& statistics,
                                            const ActivationScheme& scheme,
                                            const CalibrationParameters& parameters);

// The methods. They may assume that the tensor is not all zero and that their parameters have values, and
// must ignore scheme.powerOfTwo.
CalibrationSolver solveMinMax, solveMovingAverage, solvePercentile, solveEntropy, solveMse, solveTfEnhanced,
    solvePowerOfTwoNonOverflow, solvePowerOfTwoMinMse, solveIfmr, solveHfmg;

struct CalibrationMethodTraits {
    CalibrationMethod method;
    CalibrationSolver& solve;
    bool needsDistribution;  ///< more than minimum, maximum and history
};

inline constexpr CalibrationMethodTraits kCalibrationMethodTraits[] = {
    {CalibrationMethod::MinMax, solveMinMax, false},
    {CalibrationMethod::MovingAverage, solveMovingAverage, false},
    {CalibrationMethod::Percentile, solvePercentile, true},
    {CalibrationMethod::Entropy, solveEntropy, true},
    {CalibrationMethod::Mse, solveMse, true},
    {CalibrationMethod::TfEnhanced, solveTfEnhanced, true},
    {CalibrationMethod::PowerOfTwoNonOverflow, solvePowerOfTwoNonOverflow, false},
    {CalibrationMethod::PowerOfTwoMinMse, solvePowerOfTwoMinMse, true},
    {CalibrationMethod::Ifmr, solveIfmr, true},
    {CalibrationMethod::Hfmg, solveHfmg, true},
};

}  // namespace quantloupe
