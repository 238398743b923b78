// SPDX-License-Identifier: Apache-2.0
#include "models/choice_texts.h"

namespace quantloupe::ui {

namespace {

constexpr ChoiceText<CalibrationMethod> kMethods[] = {
    {CalibrationMethod::MinMax, "min\u2013max", "The smallest and the largest value that was seen"},
    {CalibrationMethod::MovingAverage, "moving average", "Minimum and maximum of each sample, averaged"},
    {CalibrationMethod::Percentile, "percentile", "Cuts off a small fraction of the largest values"},
    {CalibrationMethod::Entropy, "entropy", "The range whose codes keep most of the distribution (KL divergence)"},
    {CalibrationMethod::Mse, "mean squared error", "The range with the least squared error"},
    {CalibrationMethod::TfEnhanced, "TF-enhanced", "AIMET's search for the least rounding and clipping noise"},
    {CalibrationMethod::PowerOfTwoNonOverflow, "power of two, no overflow", "The power of two nearest to min\u2013max's scale"},
    {CalibrationMethod::PowerOfTwoMinMse, "power of two, least error", "Quark's choice among five powers of two"},
    {CalibrationMethod::Ifmr, "IFMR", "AMCT's search round the percentile range"},
    {CalibrationMethod::Hfmg, "HFMG", "AMCT's search over a histogram"},
};

constexpr ChoiceText<WeightMethod> kWeightMethods[] = {
    {WeightMethod::MinMax, "min\u2013max", "Symmetric: the largest magnitude is the largest code; affine: the range that holds 0"},
    {WeightMethod::Arq, "ARQ", "AMCT's: one code more on the negative side where the smallest weight is the extreme"},
    {WeightMethod::Mse, "mean squared error", "The scale, of 100 below min\u2013max's, with the least squared error"},
    {WeightMethod::FullSpan, "full span", "ONNX Runtime's of 4 bits: all codes are used, the largest magnitude is clipped by half a step"},
};

constexpr ChoiceText<EqualizationProfile> kEqualization[] = {
    {EqualizationProfile::Off, "off", "Weights stay as they are"},
    {EqualizationProfile::Aimet, "AIMET", "Pairs and depthwise triples, one pass: cross-layer equalization as AIMET does it"},
    {EqualizationProfile::Quark, "Quark", "Quark's pairs, with its thresholds and, on wish, biases in the ranges"},
    {EqualizationProfile::Quantloupe, "Quantloupe", "Whole groups of layers, over pools and sums too, balanced together"},
};

constexpr ChoiceText<BiasCorrection> kBiasCorrection[] = {
    {BiasCorrection::Off, "off", "Biases stay as they are"},
    {BiasCorrection::Analytic, "analytic", "Expected inputs from the folded batch norms: needs no data"},
    {BiasCorrection::Empirical, "empirical", "Mean inputs from the calibration data"},
};

constexpr ChoiceText<int> kBiasBits[] = {
    {32, "32 bits", "In units of input scale times weight scale"},
    {16, "16 bits", "With a power-of-two scale of its own"},
    {8, "8 bits", "With a power-of-two scale of its own"},
    {kFloatBias, "float", "Not quantized"},
};

constexpr ChoiceText<Placement> kPlacements[] = {
    {Placement::InputsAndOutputs, "inputs and outputs", "All that quantized layers read and make, for all readers, as ONNX Runtime"},
    {Placement::WeightedInputs, "inputs of weighted layers", "What a layer with weights reads, for that layer alone, as AMCT"},
};

}  // namespace

std::span<const ChoiceText<CalibrationMethod>> calibrationMethodTexts() { return kMethods; }
std::span<const ChoiceText<WeightMethod>> weightMethodTexts() { return kWeightMethods; }
std::span<const ChoiceText<EqualizationProfile>> equalizationTexts() { return kEqualization; }
std::span<const ChoiceText<BiasCorrection>> biasCorrectionTexts() { return kBiasCorrection; }
std::span<const ChoiceText<int>> biasBitsTexts() { return kBiasBits; }
std::span<const ChoiceText<Placement>> placementTexts() { return kPlacements; }

}  // namespace quantloupe::ui
