// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration in Quark's terms, for its script and its QConfig JSON.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/config_json.h"
#include "interchange/file_format.h"

namespace quantloupe {

/// Quark's options for the rules of its NPU mode, which enables all of them.
inline constexpr std::pair<const char*, bool NpuPositions::*> kQuarkPositionFlags[] = {
    {"AlignConcat", &NpuPositions::alignConcat},
    {"AlignPool", &NpuPositions::alignPool},
    {"AlignPad", &NpuPositions::alignPad},
    {"AlignSlice", &NpuPositions::alignSlice},
    {"AdjustShiftRead", &NpuPositions::adjustShiftRead},
    {"AdjustShiftWrite", &NpuPositions::adjustShiftWrite},
    {"AdjustShiftCut", &NpuPositions::adjustShiftCut},
    {"AdjustShiftBias", &NpuPositions::adjustShiftBias},
    {"AdjustHardSigmoid", &NpuPositions::adjustHardSigmoid},
    {"AdjustShiftSwish", &NpuPositions::adjustShiftSwish}};
/// Its options for the operators that it converts in NPU mode.
inline constexpr std::pair<const char*, bool NpuOperators::*> kQuarkOperatorFlags[] = {
    {"ConvertAvgPoolToDPUVersion", &NpuOperators::averagePool},
    {"ConvertReduceMeanToDPUVersion", &NpuOperators::averagePool},
    {"ConvertLeakyReluToDPUVersion", &NpuOperators::leakyRelu},
    {"ConvertSigmoidToHardSigmoid", &NpuOperators::sigmoid},
    {"ConvertHardSigmoidToDPUVersion", &NpuOperators::sigmoid}};

/// A parameter of the calibration: Quark's extra option, our key, and the methods of Quark that read it.
struct QuarkParameter {
    std::string_view option;
    const char* key;
    std::vector<CalibrationMethod> methods;
};
inline constexpr std::string_view kQuarkMode = "MinMSEModePof2Scale",
                                  kQuarkMovingAverage = "CalibMovingAverage";
inline const QuarkParameter kQuarkParameters[] = {
    {"NumBins",
     "calibration.parameters.num_bins",
     {CalibrationMethod::Percentile, CalibrationMethod::Entropy}},
    {"NumQuantizedBins", "calibration.parameters.num_quantized_bins", {CalibrationMethod::Entropy}},
    {kQuarkMode, "calibration.parameters.mode", {CalibrationMethod::PowerOfTwoMinMse}}};

struct QuarkSettings {
    /// True: Quark applies folding, replacement and equalization itself to the source model. False: it gets
    /// the transformed model.
    bool ownTransforms = false;
    GraphPtr model;
    bool includeCle = false, replaceClip6 = false;
    bool npu = false;         ///< enable_npu_cnn
    bool powerOfTwo = false;  ///< scales of weights and activations
    std::string method;       ///< "PowerOfTwoMethod.MinMSE", "CalibrationMethod.MinMax"
    std::string calibration;  ///< the same for the new API: "MinMSE"
    int activationBits = 8, weightBits = 8;
    std::vector<std::string> excluded;  ///< names of nodes and of their output tensors
    std::vector<std::string> notices;   ///< what Quark cannot do
};

/// Throws Error for a layer name that Quark does not support.
QuarkSettings quarkSettings(const ExportSource& source);
/// Calls `flag` with each extra option for biases and the NPU that is not Quark's default.
void quarkFlags(const QuantizationConfig& config, const QuarkSettings& settings,
                const std::function<void(const char*, bool)>& flag);
/// Calls `add` with each extra option for the calibration that is not Quark's default.
void quarkCalibration(const QuantizationConfig& config,
                      const std::function<void(std::string_view, const OrderedJson&)>& add);
/// Returns JSON for QConfig.from_dict, without the keys that it misreads.
std::string quarkJson(const ExportSource& source, const QuarkSettings& settings);

}  // namespace quantloupe
