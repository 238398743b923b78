// SPDX-License-Identifier: Apache-2.0
#pragma once
// How ranges of activations are found, and the parameters of each method. docs/calibration.md explains them.

#include <array>
#include <optional>

#include "config/choices.h"

namespace quantloupe {

enum class CalibrationMethod {
    MinMax,
    MovingAverage,
    Percentile,
    Entropy,
    Mse,
    TfEnhanced,
    PowerOfTwoNonOverflow,
    PowerOfTwoMinMse,
    Ifmr,
    Hfmg,
};

inline const Choices<CalibrationMethod> kCalibrationMethods = {
    {{"min_max", CalibrationMethod::MinMax},
     {"moving_average", CalibrationMethod::MovingAverage},
     {"percentile", CalibrationMethod::Percentile},
     {"entropy", CalibrationMethod::Entropy},
     {"mse", CalibrationMethod::Mse},
     {"tf_enhanced", CalibrationMethod::TfEnhanced},
     {"power_of_two_non_overflow", CalibrationMethod::PowerOfTwoNonOverflow},
     {"power_of_two_min_mse", CalibrationMethod::PowerOfTwoMinMse},
     {"ifmr", CalibrationMethod::Ifmr},
     {"hfmg", CalibrationMethod::Hfmg}}};

enum class PowerOfTwoMode { All, MostCommon };

inline const Choices<PowerOfTwoMode> kPowerOfTwoModes = {
    {{"all", PowerOfTwoMode::All}, {"most_common", PowerOfTwoMode::MostCommon}}};

/// An empty value stands for the method's default (withDefaults()). The comments give methods and allowed
/// values.
struct CalibrationParameters {
    std::optional<double> averagingConstant;             ///< moving_average: 0 (the plain mean) to 1
    std::optional<double> percentile;                    ///< percentile: above 0.5 to 1
    std::optional<int> bins;                             ///< percentile, power_of_two_min_mse, entropy
    std::optional<int> quantizedBins;                    ///< entropy
    std::optional<PowerOfTwoMode> mode;                  ///< power_of_two_min_mse
    std::optional<double> maxPercentile, minPercentile;  ///< ifmr: above 0.5 to 1
    std::optional<std::array<double, 2>> searchRange;    ///< ifmr, mse
    std::optional<double> searchStep;                    ///< ifmr, mse
    std::optional<int> numOfBins;                        ///< hfmg: one of kHfmgBins
    bool operator==(const CalibrationParameters&) const = default;
};

/// Defaults of ifmr and hfmg, here and in AMCT's configuration files.
inline constexpr double kDefaultIfmrPercentile = 0.999999, kDefaultIfmrStep = 0.01;
inline constexpr std::array kDefaultIfmrRange = {0.7, 1.3};
inline constexpr std::array kHfmgBins = {1024, 2048, 4096, 8192};  ///< the allowed numbers of bins
inline constexpr int kDefaultHfmgBins = 4096;

/// Whether the scales of the method are powers of two.
bool isPowerOfTwo(CalibrationMethod method);

/// Returns `given` with the method's defaults for its empty parameters. Those that the method does not have
/// stay as they are.
CalibrationParameters withDefaults(CalibrationMethod method, CalibrationParameters given);

inline constexpr int kMostCalibrationSamples = 1'000'000;

struct CalibrationOptions {
    CalibrationMethod method = CalibrationMethod::MinMax;
    int samples = 256;  ///< number of samples, spread evenly over the calibration data
    CalibrationParameters parameters;
    /// Find ranges in the network with quantized weights, as AIMET does.
    bool quantizedWeights = false;
    bool operator==(const CalibrationOptions&) const = default;
};

}  // namespace quantloupe
