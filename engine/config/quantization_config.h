// SPDX-License-Identifier: Apache-2.0
#pragma once
// All decisions of the user as one plain value that can be compared and copied. It identifies every result.
// docs/config.schema.json describes its JSON (config/config_json.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/calibration_config.h"
#include "config/precision.h"

namespace quantloupe {

enum class EqualizationProfile { Off, Aimet, Quark, Quantloupe };
enum class ReplaceRelu6 { None, Between, All };

struct EqualizationOptions {
    EqualizationProfile profile = EqualizationProfile::Off;
    int steps = 1;  ///< passes over all groups; AIMET makes one; -1: until converged
    /// Groups that are not equalized, each given by the names of its layers.
    std::vector<std::vector<std::string>> off;
    bool appendBias = false;       ///< quark, quantloupe: include biases in the ranges
    double weightThreshold = 0.5;  ///< quark: channels of a pair whose ranges add up to less are not scaled
    /// Equalization has converged when one pass changes the weights by at most this much. Used if steps is
    /// -1, and by quark with any number of steps.
    double totalLayerDiffThreshold = 2e-7;
    bool excludeSkipped = false;  ///< do not equalize layers that stay in float
    bool operator==(const EqualizationOptions&) const = default;
};

/// Operators that AMD's NPU computes differently from ONNX, as Quark's SimulateDPU writes them into the
/// model. The float network is changed as well, so that the difference is visible.
struct NpuOperators {
    bool averagePool = false;  ///< AveragePool, GlobalAveragePool, ReduceMean: the divisor is k / 2^n
    bool leakyRelu = false;    ///< the slope is a multiple of 1/256
    bool sigmoid = false;      ///< Sigmoid becomes HardSigmoid(1/6, 1/2), its slope becomes 2731/16384
    bool operator==(const NpuOperators&) const = default;
};

struct TransformOptions {
    /// Fold constants and remove operators without effect and dead code, before all other transforms.
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
    bool symmetric = false;   ///< the zero point is 0, or the middle of unsigned codes
    bool powerOfTwo = false;  ///< the scale is rounded to a power of two
    bool operator==(const ActivationScheme&) const = default;
};

enum class WeightMethod {
    /// Symmetric: absmax / largest code. Affine: the range from min to max, extended to include 0.
    MinMax,
    /// AMCT's method: like MinMax, but absmax / 2^(bits-1) if the smallest weight has the larger magnitude.
    Arq,
    /// The scale with the smallest squared error among 100 scales up to that of MinMax.
    Mse,
    /// Symmetric: 2 absmax / (2^bits - 1), as ONNX Runtime does for 4 bits. Affine: like MinMax.
    FullSpan,
};

struct WeightScheme {
    int bits = 8;  ///< 2 to 16
    /// Symmetric codes are -(2^(b-1)-1) .. 2^(b-1)-1; otherwise the code -2^(b-1) is used, too.
    bool restricted = true;
    bool perChannel = false;
    bool perChannelProducts = true;  ///< perChannel also applies to Gemm and MatMul
    bool isSigned = true;
    bool symmetric = true;
    bool powerOfTwo = false;  ///< scales are powers of two; Mse tries Quark's five candidates
    WeightMethod method = WeightMethod::MinMax;
    bool operator==(const WeightScheme&) const = default;
};

/// The number of bits of biases that are not quantized. Biases of 32 bits have the scale input scale times
/// weight scale; those of 16 or 8 bits have a power-of-two scale of their own, as in Quark's NPU mode.
inline constexpr int kFloatBias = 0;

/// The tensors that are quantized.
enum class Placement {
    /// All inputs and outputs of quantized layers, for all their readers. Layers that only move values pass
    /// scales on. As in ONNX Runtime.
    InputsAndOutputs,
    /// The inputs of layers with weights and of AveragePool, for that layer only. As in AMCT.
    WeightedInputs,
};

/// The operators that are quantized, and whether they have a scale of their own (quantize/units.h).
enum class OperatorSet {
    /// Layers with weights, sums, products, pools, and operators that only move values.
    Layers,
    /// Also LayerNormalization, Softmax, Sigmoid and others, products of two activations, and constant
    /// operands.
    OnnxRuntime,
    /// Layers with weights, sums, products, activations, pools, Softmax. The output of a depthwise Conv is
    /// quantized separately from that of its Relu.
    Aimet,
    /// The operators of OnnxRuntime. AveragePool, Flatten and others have scales of their own, as in Quark's
    /// quantizer.
    Quark,
};

/// Rounding of a value halfway between two codes.
enum class TieRounding {
    HalfEven,  ///< ONNX's QuantizeLinear
    Aimet,     ///< half up, counted from the lowest code in float32; see runtime/integer/fake_quant.h
};

/// Requirements of AMD's NPU on power-of-two scales 2^-position, as in Quark's NPULimitationCheck
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

/// Metrics for threshold rules; results/evaluation.h explains them.
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

/// A rule that keeps layers in float. Its kind determines which fields are used.
struct SkipRule {
    SkipKind kind = SkipKind::Node;
    /// Node: the layers. Threshold: the layers that the session found to be beyond the threshold; they are a
    /// result, not the user's decision, and are never written to a file.
    std::vector<std::string> layers;
    std::string from;                         ///< Until, Downstream
    std::vector<std::string> to;              ///< Until
    std::string op;                           ///< Type
    std::string regex;                        ///< Pattern, searched in the layer's name (RE2 syntax)
    std::string like = {};                    ///< Block: a scope or a layer; model/blocks.h
    SkipMetric metric = SkipMetric::LocalQs;  ///< Threshold
    double threshold = 0;                     ///< Threshold, in the metric's unit
    bool below = false;  ///< Threshold: smaller values are skipped; otherwise larger ones
    /// Disabled: the rule covers nothing and may name layers that the model does not have.
    bool off = false;
    bool operator==(const SkipRule&) const = default;
};

/// A rule that sets the precision of the layers in `covers`, whose kind is not Threshold.
struct PrecisionRule {
    SkipRule covers;
    Precision precision;
    bool operator==(const PrecisionRule&) const = default;
};

/// The user's settings for one layer. They take precedence over every rule.
struct LayerSettings {
    std::optional<bool> quantize;  ///< true: never skipped; false: always skipped
    /// Takes precedence over `weightBits` and `activationBits`, and implies `quantize`, which must not
    /// contradict it. With an integer precision, the layer's inputs have its activation bits, too
    /// (quantize/conversions.h).
    std::optional<Precision> precision;
    std::string comment;
    std::optional<int> weightBits;
    std::optional<bool> weightPerChannel;
    std::optional<bool> weightSigned, weightSymmetric, weightRestricted, weightPowerOfTwo;
    std::optional<WeightMethod> weightMethod;
    std::optional<int> biasBits;
    // Settings of the layer's output or, with Placement::WeightedInputs, of its input.
    std::optional<int> activationBits;
    std::optional<bool> activationSigned, activationSymmetric, activationPowerOfTwo;
    std::optional<CalibrationMethod> calibrationMethod;
    /// A parameter that is set overrides the network's. Parameters of other methods have no effect.
    CalibrationParameters calibrationParameters;
    bool operator==(const LayerSettings&) const = default;
    bool empty() const { return *this == LayerSettings{}; }
};

enum class BiasCorrection {
    Off,
    Analytic,   ///< input means from batch norms
    Empirical,  ///< input means from calibration data
};

enum class Rounding {
    Nearest,
    Adaround,  ///< up or down, learned from the layer's output on calibration data
};

/// Corrections made once the quantizers are known, and outlier migration.
struct RefineOptions {
    BiasCorrection biasCorrection = BiasCorrection::Off;
    Rounding rounding = Rounding::Nearest;
    /// Strength of outlier migration from the inputs of Gemm and MatMul into their weights, 0 (off) to 1.
    double migration = 0;
    bool operator==(const RefineOptions&) const = default;
};

/// How the quantized model is written. Results do not depend on it.
struct ExportOptions {
    /// Write weights and biases as float followed by Q/DQ, instead of integers followed by DQ.
    bool floatWeights = false;
    /// Write codes of up to 4 bits as int4 and uint4, which need opset 21; otherwise as int8 and uint8.
    bool fourBitTypes = true;
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
    /// With skipTail: skip the tail however large it is; otherwise only a small one (config/tail_rule.h).
    bool wholeTail = false;
    std::vector<SkipRule> rules;
    std::vector<PrecisionRule> precisionRules;  ///< later rules take precedence over earlier ones
    std::map<std::string, LayerSettings> layers;
    /// Returns the layer's own settings; null if it has none.
    const LayerSettings* settingsOf(const std::string& layer) const {
        const auto found = layers.find(layer);
        return found == layers.end() ? nullptr : &found->second;
    }
    bool operator==(const QuantizationConfig&) const = default;
};

}  // namespace quantloupe
