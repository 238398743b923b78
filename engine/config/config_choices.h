// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names of the configuration's choices, for reading and writing. Those of the calibration are in
// config/calibration_config.h.

#include "config/object_reader.h"
#include "config/quantization_config.h"
#include "config/skip_metric_traits.h"

namespace quantloupe {

inline const Choices<EqualizationProfile> kEqualizationProfiles = {
    {{"off", EqualizationProfile::Off},
     {"aimet", EqualizationProfile::Aimet},
     {"quark", EqualizationProfile::Quark},
     {"quantloupe", EqualizationProfile::Quantloupe}}};

inline const Choices<ReplaceRelu6> kReplaceRelu6 = {
    {{"none", ReplaceRelu6::None}, {"between", ReplaceRelu6::Between}, {"all", ReplaceRelu6::All}}};

inline const Choices<Placement> kPlacements = {
    {{"inputs_and_outputs", Placement::InputsAndOutputs}, {"weighted_inputs", Placement::WeightedInputs}}};

inline const Choices<OperatorSet> kOperatorSets = {{{"layers", OperatorSet::Layers},
                                                    {"onnxruntime", OperatorSet::OnnxRuntime},
                                                    {"aimet", OperatorSet::Aimet},
                                                    {"quark", OperatorSet::Quark}}};

inline const Choices<TieRounding> kTieRoundings = {
    {{"half_even", TieRounding::HalfEven}, {"aimet", TieRounding::Aimet}}};

inline const Choices<WeightMethod> kWeightMethods = {{{"min_max", WeightMethod::MinMax},
                                                      {"arq", WeightMethod::Arq},
                                                      {"mse", WeightMethod::Mse},
                                                      {"full_span", WeightMethod::FullSpan}}};

inline const Choices<BiasCorrection> kBiasCorrections = {{{"off", BiasCorrection::Off},
                                                          {"empirical", BiasCorrection::Empirical},
                                                          {"analytic", BiasCorrection::Analytic}}};

inline const Choices<Rounding> kRoundings = {
    {{"nearest", Rounding::Nearest}, {"adaround", Rounding::Adaround}}};

inline const Choices<SkipKind> kSkipKinds = {{{"node", SkipKind::Node},
                                              {"until", SkipKind::Until},
                                              {"downstream", SkipKind::Downstream},
                                              {"type", SkipKind::Type},
                                              {"pattern", SkipKind::Pattern},
                                              {"block", SkipKind::Block},
                                              {"threshold", SkipKind::Threshold}}};

inline const Choices<SkipMetric> kSkipMetrics = [] {
    Choices<SkipMetric> choices;
    for (const SkipMetricTraits& traits : kSkipMetricTraits)
        choices.available.emplace_back(traits.key, traits.metric);
    return choices;
}();

/// Maximum of transforms.equalization.steps, also on the command line and in files of other tools. Quark has
/// the same limit.
inline constexpr int kMaxEqualizationSteps = 1000;

/// The version of the configuration's file format.
inline constexpr int kConfigFormat = 1;

}  // namespace quantloupe
