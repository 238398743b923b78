// SPDX-License-Identifier: Apache-2.0
#include "config/calibration_config.h"

namespace quantloupe {
namespace {

template <typename T>
void setDefault(std::optional<T>& parameter, T value) {
    if (!parameter) parameter = value;
}

}  // namespace

bool isPowerOfTwo(CalibrationMethod method) {
    return method == CalibrationMethod::PowerOfTwoMinMse ||
           method == CalibrationMethod::PowerOfTwoNonOverflow;
}

CalibrationParameters withDefaults(CalibrationMethod method, CalibrationParameters given) {
    switch (method) {
        case CalibrationMethod::MinMax:
        case CalibrationMethod::TfEnhanced:
        case CalibrationMethod::PowerOfTwoNonOverflow:
            break;
        case CalibrationMethod::MovingAverage:
            setDefault(given.averagingConstant, 0.01);
            break;
        case CalibrationMethod::Percentile:
            setDefault(given.percentile, 0.99999);
            setDefault(given.bins, 2048);
            break;
        case CalibrationMethod::Entropy:
            setDefault(given.bins, 128);
            setDefault(given.quantizedBins, 128);
            break;
        case CalibrationMethod::Mse:
            setDefault(given.searchRange, std::array{0.2, 1.0});
            setDefault(given.searchStep, 0.01);
            break;
        case CalibrationMethod::PowerOfTwoMinMse:
            setDefault(given.bins, 2048);
            setDefault(given.mode, PowerOfTwoMode::All);
            break;
        case CalibrationMethod::Ifmr:
            setDefault(given.maxPercentile, kDefaultIfmrPercentile);
            setDefault(given.minPercentile, kDefaultIfmrPercentile);
            setDefault(given.searchRange, kDefaultIfmrRange);
            setDefault(given.searchStep, kDefaultIfmrStep);
            break;
        case CalibrationMethod::Hfmg:
            setDefault(given.numOfBins, kDefaultHfmgBins);
            break;
    }
    return given;
}

}  // namespace quantloupe
