// SPDX-License-Identifier: Apache-2.0
#include "style/choice_texts.h"

namespace quantloupe::ui {

namespace {

constexpr ChoiceText<CalibrationMethod> kMethods[] = {
    {CalibrationMethod::MinMax, QT_TRANSLATE_NOOP("Words", "min\u2013max"),
     QT_TRANSLATE_NOOP("Words", "The smallest and the largest observed value")},
    {CalibrationMethod::MovingAverage, QT_TRANSLATE_NOOP("Words", "moving average"),
     QT_TRANSLATE_NOOP("Words", "Minimum and maximum of each sample, averaged")},
    {CalibrationMethod::Percentile, QT_TRANSLATE_NOOP("Words", "percentile"),
     QT_TRANSLATE_NOOP("Words", "Clips a small fraction of the largest values")},
    {CalibrationMethod::Entropy, QT_TRANSLATE_NOOP("Words", "entropy"),
     QT_TRANSLATE_NOOP("Words", "The range that preserves the distribution best (KL divergence)")},
    {CalibrationMethod::Mse, QT_TRANSLATE_NOOP("Words", "mean squared error"),
     QT_TRANSLATE_NOOP("Words", "The range with the least squared error")},
    {CalibrationMethod::TfEnhanced, QT_TRANSLATE_NOOP("Words", "TF-enhanced"),
     QT_TRANSLATE_NOOP("Words", "AIMET's search for the least rounding and clipping error")},
    {CalibrationMethod::PowerOfTwoNonOverflow, QT_TRANSLATE_NOOP("Words", "power of two, no overflow"),
     QT_TRANSLATE_NOOP("Words", "The power of two nearest to the min\u2013max scale")},
    {CalibrationMethod::PowerOfTwoMinMse, QT_TRANSLATE_NOOP("Words", "power of two, least error"),
     QT_TRANSLATE_NOOP("Words", "Quark's choice among five powers of two")},
    {CalibrationMethod::Ifmr, QT_TRANSLATE_NOOP("Words", "IFMR"),
     QT_TRANSLATE_NOOP("Words", "AMCT's search around the percentile range")},
    {CalibrationMethod::Hfmg, QT_TRANSLATE_NOOP("Words", "HFMG"),
     QT_TRANSLATE_NOOP("Words", "AMCT's search over a histogram")},
};

constexpr ChoiceText<WeightMethod> kWeightMethods[] = {
    {WeightMethod::MinMax, QT_TRANSLATE_NOOP("Words", "min\u2013max"),
     QT_TRANSLATE_NOOP("Words",
                       "Symmetric: the largest magnitude is mapped to the largest code; affine: "
                       "the range extended to include 0")},
    {WeightMethod::Arq, QT_TRANSLATE_NOOP("Words", "ARQ"),
     QT_TRANSLATE_NOOP(
         "Words",
         "AMCT's method: one more negative code if the weight with the largest magnitude is negative")},
    {WeightMethod::Mse, QT_TRANSLATE_NOOP("Words", "mean squared error"),
     QT_TRANSLATE_NOOP("Words",
                       "The scale with the least squared error out of 100 below the min\u2013max scale")},
    {WeightMethod::FullSpan, QT_TRANSLATE_NOOP("Words", "full span"),
     QT_TRANSLATE_NOOP("Words",
                       "ONNX Runtime's method for 4 bits: all codes are used, and the largest magnitude is "
                       "clipped by half a step")},
};

constexpr ChoiceText<ReplaceRelu6> kReplaceRelu6[] = {
    {ReplaceRelu6::None, QT_TRANSLATE_NOOP("Words", "keep"), QT_TRANSLATE_NOOP("Words", "Keep every ReLU6")},
    {ReplaceRelu6::Between, QT_TRANSLATE_NOOP("Words", "between"),
     QT_TRANSLATE_NOOP("Words", "Replace ReLU6 between two layers that can be equalized")},
    {ReplaceRelu6::All, QT_TRANSLATE_NOOP("Words", "all"), QT_TRANSLATE_NOOP("Words", "Replace every ReLU6")},
};

constexpr ChoiceText<EqualizationProfile> kEqualization[] = {
    {EqualizationProfile::Off, QT_TRANSLATE_NOOP("Words", "off"),
     QT_TRANSLATE_NOOP("Words", "Weights are not changed")},
    {EqualizationProfile::Aimet, QT_TRANSLATE_NOOP("Words", "AIMET"),
     QT_TRANSLATE_NOOP("Words",
                       "Cross-layer equalization as in AIMET: pairs and depthwise triples, one pass")},
    {EqualizationProfile::Quark, QT_TRANSLATE_NOOP("Words", "Quark"),
     QT_TRANSLATE_NOOP("Words",
                       "Pairs as in Quark, with its thresholds and, optionally, biases in the ranges")},
    {EqualizationProfile::Quantloupe, QT_TRANSLATE_NOOP("Words", "Quantloupe"),
     QT_TRANSLATE_NOOP("Words", "Balances whole groups of layers together, also across pooling and sums")},
};

constexpr ChoiceText<BiasCorrection> kBiasCorrection[] = {
    {BiasCorrection::Off, QT_TRANSLATE_NOOP("Words", "off"),
     QT_TRANSLATE_NOOP("Words", "Biases are not changed")},
    {BiasCorrection::Analytic, QT_TRANSLATE_NOOP("Words", "analytic"),
     QT_TRANSLATE_NOOP("Words", "Uses the expected inputs from the folded batch norms: needs no data")},
    {BiasCorrection::Empirical, QT_TRANSLATE_NOOP("Words", "empirical"),
     QT_TRANSLATE_NOOP(
         "Words",
         "Compares the mean outputs of the float and the quantized network on the calibration data")},
};

constexpr ChoiceText<int> kBiasBits[] = {
    {32, QT_TRANSLATE_NOOP("Words", "32 bits"),
     QT_TRANSLATE_NOOP("Words", "The scale is input scale times weight scale")},
    {16, QT_TRANSLATE_NOOP("Words", "16 bits"),
     QT_TRANSLATE_NOOP("Words", "With its own power-of-two scale")},
    {8, QT_TRANSLATE_NOOP("Words", "8 bits"), QT_TRANSLATE_NOOP("Words", "With its own power-of-two scale")},
    {kFloatBias, QT_TRANSLATE_NOOP("Words", "float"), QT_TRANSLATE_NOOP("Words", "Not quantized")},
};

constexpr ChoiceText<Placement> kPlacements[] = {
    {Placement::InputsAndOutputs, QT_TRANSLATE_NOOP("Words", "inputs and outputs"),
     QT_TRANSLATE_NOOP(
         "Words",
         "All inputs and outputs of quantized layers, for all of their consumers, as in ONNX Runtime")},
    {Placement::WeightedInputs, QT_TRANSLATE_NOOP("Words", "inputs of weighted layers"),
     QT_TRANSLATE_NOOP("Words", "The inputs of layers with weights, for these layers only, as in AMCT")},
};

constexpr ChoiceText<OperatorSet> kOperators[] = {
    {OperatorSet::Layers, QT_TRANSLATE_NOOP("Words", "layers"),
     QT_TRANSLATE_NOOP(
         "Words",
         "Layers with weights, sums, products, Concat, pooling, and operators that only move values")},
    {OperatorSet::OnnxRuntime, QT_TRANSLATE_NOOP("Words", "as in ONNX Runtime"),
     QT_TRANSLATE_NOOP(
         "Words",
         "Also LayerNormalization, Softmax, Sigmoid, LeakyRelu, products of two activations, Slice, "
         "Split, Gather, Resize, Pad, and constant operands")},
    {OperatorSet::Aimet, QT_TRANSLATE_NOOP("Words", "as in AIMET"),
     QT_TRANSLATE_NOOP("Words",
                       "Layers with weights, sums, products, pooling, Softmax, activations; a depthwise "
                       "Conv's output also before its activation")},
    {OperatorSet::Quark, QT_TRANSLATE_NOOP("Words", "as in Quark"),
     QT_TRANSLATE_NOOP("Words",
                       "As in ONNX Runtime, with separate scales for AveragePool, Flatten, Slice, Pad, "
                       "HardSigmoid, Sub; LeakyRelu and PRelu belong to the layer before them")},
};

constexpr ChoiceText<TieRounding> kTieRoundings[] = {
    {TieRounding::HalfEven, QT_TRANSLATE_NOOP("Words", "half to even"),
     QT_TRANSLATE_NOOP("Words", "As in ONNX's QuantizeLinear, ONNX Runtime and Quark")},
    {TieRounding::Aimet, QT_TRANSLATE_NOOP("Words", "as in AIMET"),
     QT_TRANSLATE_NOOP("Words",
                       "Half up, counted from the lowest code, as in AIMET's simulation; the network is "
                       "then always simulated in float, which takes longer")},
};

}  // namespace

std::span<const ChoiceText<CalibrationMethod>> calibrationMethodTexts() { return kMethods; }
std::span<const ChoiceText<WeightMethod>> weightMethodTexts() { return kWeightMethods; }
std::span<const ChoiceText<ReplaceRelu6>> replaceRelu6Texts() { return kReplaceRelu6; }
std::span<const ChoiceText<EqualizationProfile>> equalizationTexts() { return kEqualization; }
std::span<const ChoiceText<BiasCorrection>> biasCorrectionTexts() { return kBiasCorrection; }
std::span<const ChoiceText<int>> biasBitsTexts() { return kBiasBits; }
std::span<const ChoiceText<Placement>> placementTexts() { return kPlacements; }
std::span<const ChoiceText<OperatorSet>> operatorSetTexts() { return kOperators; }
std::span<const ChoiceText<TieRounding>> tieRoundingTexts() { return kTieRoundings; }

}  // namespace quantloupe::ui
