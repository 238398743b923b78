// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every decision of the person, as one plain value: comparable, copied freely, the key of every result.
// docs/config.schema.json describes its JSON (config/config_json.h).

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/calibration_config.h"

namespace quantloupe {

enum class EqualizationProfile { Off, Aimet, Quark, Quantloupe };
enum class ReplaceRelu6 { None, Between, All };

struct EqualizationOptions {
    EqualizationProfile profile = EqualizationProfile::Off;
    int steps = 1;  ///< passes over all sets; AIMET does one; -1: until the weights come to rest
    /// Sets that are left alone, named by their layers' names.
    std::vector<std::vector<std::string>> off;
    bool appendBias = false;       ///< quark, quantloupe: biases count in the ranges
    double weightThreshold = 0.5;  ///< quark: channels of a pair whose ranges add up to less stay as they are
    /// the change of a pass that ends adaptive steps (quark: any steps)
    double totalLayerDiffThreshold = 2e-7;
    bool excludeSkipped = false;  ///< layers that stay in float take no part
    bool operator==(const EqualizationOptions&) const = default;
};

/// What AMD's NPU computes otherwise than ONNX says, as Quark's SimulateDPU writes it into the model: done to
/// the float network, too, so that the drift is seen.
struct NpuOperators {
    bool averagePool = false;  ///< AveragePool, GlobalAveragePool, ReduceMean: the divisor is k / 2^n
    bool leakyRelu = false;    ///< the slope is a multiple of 1/256
    bool sigmoid = false;      ///< Sigmoid becomes HardSigmoid(1/6, 1/2), and that one's slope 2731/16384
    bool operator==(const NpuOperators&) const = default;
};

struct TransformOptions {
    /// constants folded, operators that do nothing and dead code removed, before all else
    bool simplify = false;
    bool foldBatchNorm = true;
    std::vector<std::string> skipFolding;  ///< names of layers that keep their batch norm
    ReplaceRelu6 replaceRelu6 = ReplaceRelu6::None;
    EqualizationOptions equalization;
    bool highBiasFold = false;
    NpuOperators npuOperators;
    bool operator==(const TransformOptions&) const = default;
};

struct ActivationScheme {
    int bits = 8;  ///< 2 to 16
    bool isSigned = true;
    bool symmetric = false;   ///< zero point 0, or in the middle of unsigned codes
    bool powerOfTwo = false;  ///< the scale is rounded to a power of two
    bool operator==(const ActivationScheme&) const = default;
};

enum class WeightMethod {
    MinMax,    ///< symmetric: absmax over the largest code; affine: the range that holds 0
    Arq,       ///< AMCT's: absmax / 2^(bits-1) where the smallest weight has the larger magnitude
    Mse,       ///< the scale, of 100 below MinMax's, with the smallest squared error
    FullSpan,  ///< symmetric: 2 absmax / (2^bits - 1), ONNX Runtime's of 4 bits; affine: as MinMax
};

struct WeightScheme {
    int bits = 8;            ///< 2 to 16
    bool restricted = true;  ///< symmetric codes -(2^(b-1)-1) .. 2^(b-1)-1; otherwise the code -2^(b-1), too
    bool perChannel = false;
    bool perChannelProducts = true;  ///< Gemm and MatMul, too, where perChannel
    bool isSigned = true;
    bool symmetric = true;
    bool powerOfTwo = false;  ///< scales are powers of two; with Mse of Quark's five candidates
    WeightMethod method = WeightMethod::MinMax;
    bool operator==(const WeightScheme&) const = default;
};

/// Of biases: 32 bits in units of input scale times weight scale; 16 or 8 bits with a power-of-two scale of
/// their own, as Quark's NPU mode has them; kFloatBias: not quantized.
inline constexpr int kFloatBias = 0;

/// Which tensors are quantized.
enum class Placement {
    /// all that a quantized layer reads and makes, for all readers; scales are passed on: ONNX Runtime
    InputsAndOutputs,
    WeightedInputs,  ///< what a layer with weights (or an AveragePool) reads, for that layer alone: AMCT
};

/// Which operators are quantized, and which of them choose a scale of their own (quantize/units.h).
enum class OperatorSet {
    Layers,  ///< layers with weights, sums, products, pools, and what moves values about
    /// also LayerNormalization, Softmax, Sigmoid..., products of two activations, constant operands
    OnnxRuntime,
    /// layers with weights, sums, products, activations, pools, Softmax; a depthwise Conv's output apart from
    /// its Relu
    Aimet,
    /// those of OnnxRuntime, and scales of their own for AveragePool, Flatten and what else Quark's quantizer
    /// gives them
    Quark,
};

/// Which code a value on the border of two gets.
enum class TieRounding {
    HalfEven,  ///< ONNX's QuantizeLinear
    Aimet,     ///< counted from the lowest code in float32, halves up: runtime/integer/fake_quant.h
};

/// What AMD's NPU asks of power-of-two scales, 2^-position: Quark's NPULimitationCheck
/// (quantize/npu_positions.h).
struct NpuPositions {
    bool alignConcat = false, alignPool = false, alignPad = false, alignSlice = false;
    bool adjustShiftRead = false, adjustShiftWrite = false, adjustShiftCut = false, adjustShiftBias = false;
    bool adjustHardSigmoid = false, adjustShiftSwish = false;
    int maxLoops = 5;
    bool operator==(const NpuPositions&) const = default;
};

struct QuantizationOptions {
    Placement placement = Placement::InputsAndOutputs;
    OperatorSet operators = OperatorSet::Layers;
    ActivationScheme activation;
    WeightScheme weight;
    int biasBits = 32;  ///< 8, 16, 32 or kFloatBias
    TieRounding rounding = TieRounding::HalfEven;
    NpuPositions npuPositions;
    bool operator==(const QuantizationOptions&) const = default;
};

enum class SkipKind { Node, Until, Downstream, Type, Pattern, Block, Threshold };

/// What a threshold is on; results/evaluation.h explains the numbers.
enum class SkipMetric {
    WeightQs,
    WeightSqnr,
    LocalQs,
    LocalCosine,
    LocalSqnr,
    CumulativeQs,
    CumulativeCosine,
    CumulativeSqnr,
    LeaveOneOut,
    LocalAbsoluteL2,
};

/// A rule that keeps layers in float. Which fields count depends on the kind.
struct SkipRule {
    SkipKind kind = SkipKind::Node;
    /// Node; Threshold: those that the session has found to be beyond it. Of a threshold they are no part of
    /// the person's decision: never written.
    std::vector<std::string> layers;
    std::string from;                         ///< Until, Downstream
    std::vector<std::string> to;              ///< Until
    std::string op;                           ///< Type
    std::string regex;                        ///< Pattern, searched in the layer's name (ECMAScript)
    std::string like = {};                    ///< Block: a scope or a layer; model/blocks.h
    SkipMetric metric = SkipMetric::LocalQs;  ///< Threshold
    double threshold = 0;                     ///< Threshold, in the metric's unit
    bool below = false;  ///< Threshold: smaller values are skipped; otherwise larger ones
    /// kept for later: covers nothing, and may name layers that are not there
    bool off = false;
    bool operator==(const SkipRule&) const = default;
};

/// What the person set for one layer; it beats every rule.
struct LayerSettings {
    std::optional<bool> quantize;  ///< true: never skipped; false: always
    std::string comment;
    std::optional<int> weightBits;
    std::optional<bool> weightPerChannel;
    std::optional<bool> weightSigned, weightSymmetric, weightRestricted, weightPowerOfTwo;
    std::optional<WeightMethod> weightMethod;
    std::optional<int> biasBits;
    // Of the tensor that the layer makes; of the one that it reads where only those are quantized.
    std::optional<int> activationBits;
    std::optional<bool> activationSigned, activationSymmetric, activationPowerOfTwo;
    std::optional<CalibrationMethod> calibrationMethod;
    /// Each that is set beats the network's; one that the layer's method does not know has no effect.
    CalibrationParameters calibrationParameters;
    bool operator==(const LayerSettings&) const = default;
    bool empty() const { return *this == LayerSettings{}; }
};

enum class BiasCorrection {
    Off,
    Analytic,   ///< means of inputs from batch norms
    Empirical,  ///< means of inputs from calibration data
};

enum class Rounding {
    Nearest,
    Adaround,  ///< up or down, whichever serves the layer's output on calibration data
};

/// What is done with quantizers known.
struct RefineOptions {
    BiasCorrection biasCorrection = BiasCorrection::Off;
    Rounding rounding = Rounding::Nearest;
    /// 0 to 1: how much of the outliers in what Gemm and MatMul read goes into their weights; 0: nothing.
    double migration = 0;
    bool operator==(const RefineOptions&) const = default;
};

/// How the quantized model is written; no result depends on it.
struct ExportOptions {
    /// weights and biases in float with Q/DQ behind them, instead of integers with DQ
    bool floatWeights = false;
    bool fourBitTypes = true;  ///< up to 4 bits as int4 and uint4, which need opset 21; otherwise in 8 bits
    bool operator==(const ExportOptions&) const = default;
};

struct QuantizationConfig {
    std::string preset = "default";
    TransformOptions transforms;
    QuantizationOptions quantization;
    CalibrationOptions calibration;
    RefineOptions refine;
    ExportOptions exports;
    bool skipTail = true;
    /// however much of the network it covers; false: only a small tail (config/tail_rule.h)
    bool wholeTail = false;
    std::vector<SkipRule> rules;
    std::map<std::string, LayerSettings> layers;
    bool operator==(const QuantizationConfig&) const = default;
};

}  // namespace quantloupe
