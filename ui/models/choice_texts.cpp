// SPDX-License-Identifier: Apache-2.0
#include "models/choice_texts.h"

namespace quantloupe::ui {

namespace {

constexpr ChoiceText<CalibrationMethod> kMethods[] = {
    {CalibrationMethod::MinMax, QT_TRANSLATE_NOOP("Words", "min\u2013max"),
     QT_TRANSLATE_NOOP("Words", "The smallest and the largest value that was seen")},
    {CalibrationMethod::MovingAverage, QT_TRANSLATE_NOOP("Words", "moving average"),
     QT_TRANSLATE_NOOP("Words", "Minimum and maximum of each sample, averaged")},
    {CalibrationMethod::Percentile, QT_TRANSLATE_NOOP("Words", "percentile"),
     QT_TRANSLATE_NOOP("Words", "Cuts off a small fraction of the largest values")},
    {CalibrationMethod::Entropy, QT_TRANSLATE_NOOP("Words", "entropy"),
     QT_TRANSLATE_NOOP("Words", "The range whose codes keep most of the distribution (KL divergence)")},
    {CalibrationMethod::Mse, QT_TRANSLATE_NOOP("Words", "mean squared error"),
     QT_TRANSLATE_NOOP("Words", "The range with the least squared error")},
    {CalibrationMethod::TfEnhanced, QT_TRANSLATE_NOOP("Words", "TF-enhanced"),
     QT_TRANSLATE_NOOP("Words", "AIMET's search for the least rounding and clipping noise")},
    {CalibrationMethod::PowerOfTwoNonOverflow, QT_TRANSLATE_NOOP("Words", "power of two, no overflow"),
     QT_TRANSLATE_NOOP("Words", "The power of two nearest to min\u2013max's scale")},
    {CalibrationMethod::PowerOfTwoMinMse, QT_TRANSLATE_NOOP("Words", "power of two, least error"),
     QT_TRANSLATE_NOOP("Words", "Quark's choice among five powers of two")},
    {CalibrationMethod::Ifmr, QT_TRANSLATE_NOOP("Words", "IFMR"),
     QT_TRANSLATE_NOOP("Words", "AMCT's search round the percentile range")},
    {CalibrationMethod::Hfmg, QT_TRANSLATE_NOOP("Words", "HFMG"), QT_TRANSLATE_NOOP("Words", "AMCT's search over a histogram")},
};

constexpr ChoiceText<WeightMethod> kWeightMethods[] = {
    {WeightMethod::MinMax, QT_TRANSLATE_NOOP("Words", "min\u2013max"),
     QT_TRANSLATE_NOOP("Words", "Symmetric: the largest magnitude is the largest code; affine: the range that holds 0")},
    {WeightMethod::Arq, QT_TRANSLATE_NOOP("Words", "ARQ"),
     QT_TRANSLATE_NOOP("Words", "AMCT's: one code more on the negative side where the smallest weight is the extreme")},
    {WeightMethod::Mse, QT_TRANSLATE_NOOP("Words", "mean squared error"),
     QT_TRANSLATE_NOOP("Words", "The scale, of 100 below min\u2013max's, with the least squared error")},
    {WeightMethod::FullSpan, QT_TRANSLATE_NOOP("Words", "full span"),
     QT_TRANSLATE_NOOP("Words", 
         "ONNX Runtime's of 4 bits: all codes are used, the largest magnitude is clipped by half a step")},
};

constexpr ChoiceText<EqualizationProfile> kEqualization[] = {
    {EqualizationProfile::Off, QT_TRANSLATE_NOOP("Words", "off"), QT_TRANSLATE_NOOP("Words", "Weights stay as they are")},
    {EqualizationProfile::Aimet, QT_TRANSLATE_NOOP("Words", "AIMET"),
     QT_TRANSLATE_NOOP("Words", "Pairs and depthwise triples, one pass: cross-layer equalization as AIMET does it")},
    {EqualizationProfile::Quark, QT_TRANSLATE_NOOP("Words", "Quark"),
     QT_TRANSLATE_NOOP("Words", "Quark's pairs, with its thresholds and, on wish, biases in the ranges")},
    {EqualizationProfile::Quantloupe, QT_TRANSLATE_NOOP("Words", "Quantloupe"),
     QT_TRANSLATE_NOOP("Words", "Whole groups of layers, over pools and sums too, balanced together")},
};

constexpr ChoiceText<BiasCorrection> kBiasCorrection[] = {
    {BiasCorrection::Off, QT_TRANSLATE_NOOP("Words", "off"), QT_TRANSLATE_NOOP("Words", "Biases stay as they are")},
    {BiasCorrection::Analytic, QT_TRANSLATE_NOOP("Words", "analytic"),
     QT_TRANSLATE_NOOP("Words", "Expected inputs from the folded batch norms: needs no data")},
    {BiasCorrection::Empirical, QT_TRANSLATE_NOOP("Words", "empirical"),
     QT_TRANSLATE_NOOP("Words", "Mean inputs from the calibration data")},
};

constexpr ChoiceText<int> kBiasBits[] = {
    {32, QT_TRANSLATE_NOOP("Words", "32 bits"), QT_TRANSLATE_NOOP("Words", "In units of input scale times weight scale")},
    {16, QT_TRANSLATE_NOOP("Words", "16 bits"), QT_TRANSLATE_NOOP("Words", "With a power-of-two scale of its own")},
    {8, QT_TRANSLATE_NOOP("Words", "8 bits"), QT_TRANSLATE_NOOP("Words", "With a power-of-two scale of its own")},
    {kFloatBias, QT_TRANSLATE_NOOP("Words", "float"), QT_TRANSLATE_NOOP("Words", "Not quantized")},
};

constexpr ChoiceText<Placement> kPlacements[] = {
    {Placement::InputsAndOutputs, QT_TRANSLATE_NOOP("Words", "inputs and outputs"),
     QT_TRANSLATE_NOOP("Words", "All that quantized layers read and make, for all readers, as ONNX Runtime")},
    {Placement::WeightedInputs, QT_TRANSLATE_NOOP("Words", "inputs of weighted layers"),
     QT_TRANSLATE_NOOP("Words", "What a layer with weights reads, for that layer alone, as AMCT")},
};

constexpr ChoiceText<OperatorSet> kOperators[] = {
    {OperatorSet::Layers, QT_TRANSLATE_NOOP("Words", "layers"),
     QT_TRANSLATE_NOOP("Words", "Layers with weights, sums, products, Concat, pools, and what moves values about")},
    {OperatorSet::OnnxRuntime, QT_TRANSLATE_NOOP("Words", "as ONNX Runtime"),
     QT_TRANSLATE_NOOP("Words",
                       "Also LayerNormalization, Softmax, Sigmoid, LeakyRelu, products of two activations, Slice, "
                       "Split, Gather, Resize, Pad, and constant operands")},
    {OperatorSet::Aimet, QT_TRANSLATE_NOOP("Words", "as AIMET"),
     QT_TRANSLATE_NOOP("Words",
                       "Layers with weights, sums, products, pools, Softmax, activations; a depthwise Conv's output also before its "
                       "activation")},
    {OperatorSet::Quark, QT_TRANSLATE_NOOP("Words", "as Quark"),
     QT_TRANSLATE_NOOP("Words",
                       "As ONNX Runtime, with scales of their own for AveragePool, Flatten, Slice, Pad, HardSigmoid, "
                       "Sub; LeakyRelu and PRelu belong to the layer before them")},
};

constexpr ChoiceText<TieRounding> kTieRoundings[] = {
    {TieRounding::HalfEven, QT_TRANSLATE_NOOP("Words", "halves to even"),
     QT_TRANSLATE_NOOP("Words", "As ONNX's QuantizeLinear, so as ONNX Runtime and Quark")},
    {TieRounding::Aimet, QT_TRANSLATE_NOOP("Words", "as AIMET"),
     QT_TRANSLATE_NOOP("Words",
                       "Counted from the lowest code, halves up, as AIMET's simulation does it; the network is then always "
                       "simulated in float, which takes longer")},
};

}  // namespace

std::span<const ChoiceText<CalibrationMethod>> calibrationMethodTexts() { return kMethods; }
std::span<const ChoiceText<WeightMethod>> weightMethodTexts() { return kWeightMethods; }
std::span<const ChoiceText<EqualizationProfile>> equalizationTexts() { return kEqualization; }
std::span<const ChoiceText<BiasCorrection>> biasCorrectionTexts() { return kBiasCorrection; }
std::span<const ChoiceText<int>> biasBitsTexts() { return kBiasBits; }
std::span<const ChoiceText<Placement>> placementTexts() { return kPlacements; }
std::span<const ChoiceText<OperatorSet>> operatorSetTexts() { return kOperators; }
std::span<const ChoiceText<TieRounding>> tieRoundingTexts() { return kTieRoundings; }

}  // namespace quantloupe::ui
