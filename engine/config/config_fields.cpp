// SPDX-License-Identifier: Apache-2.0
#include "config/config_fields.h"

#include <algorithm>

#include "base/error.h"
#include "config/config_choices.h"
#include "config/layer_json.h"
#include "config/rule_json.h"

namespace quantloupe {
namespace {

/// Accesses a member of a configuration, of LayerOptions or of LayerSettings.
#define AT(member) \
    [](auto& owner) -> auto& { return owner.member; }

void addTransforms(FieldTable& table) {
    table.group("transforms", "Changes to the float model before quantization, in this order.");
    table
        .add("transforms.simplify", AT(transforms.simplify), booleanField(),
             "Compute constant parts of the model in advance, and remove operators that have no effect or "
             "whose results are not used.")
        .option("--simplify")
        .changesModel();
    table
        .add("transforms.fold_batch_norm", AT(transforms.foldBatchNorm), booleanField(),
             "Fold batch norms, and per-channel factors and shifts, into the layers before or after them.")
        .option("--fold-bn")
        .changesModel();
    table
        .add("transforms.skip_folding", AT(transforms.skipFolding), namesField(),
             "Layers that keep their batch norm.")
        .changesModel()
        .namesLayers();
    table
        .add("transforms.replace_relu6", AT(transforms.replaceRelu6), choiceField(kReplaceRelu6),
             "Replace Clip(0, 6) by Relu: nowhere, between two convolutions, or everywhere.")
        .option("--replace-relu6")
        .changesModel();
    table.group("transforms.equalization", "Cross-layer equalization of weights.");
    table
        .add("transforms.equalization.profile", AT(transforms.equalization.profile),
             choiceField(kEqualizationProfiles),
             "Cross-layer equalization as in this tool; docs/equalization.md explains the profiles.")
        .option("--cle")
        .changesModel();
    table
        .add("transforms.equalization.steps", AT(transforms.equalization.steps),
             integerField(-1, kMaxEqualizationSteps, " (-1: until converged)"),
             "Passes over all equalization groups; -1: until converged.")
        .option("--cle-steps")
        .changesModel();
    table
        .add("transforms.equalization.append_bias", AT(transforms.equalization.appendBias), booleanField(),
             "Include biases in the ranges (quark, quantloupe).")
        .changesModel();
    table
        .add("transforms.equalization.weight_threshold", AT(transforms.equalization.weightThreshold),
             numberField({}),
             "Channels of a pair are not scaled if the sum of their two ranges is below this value (quark).")
        .changesModel();
    table
        .add("transforms.equalization.total_layer_diff_threshold",
             AT(transforms.equalization.totalLayerDiffThreshold), numberField({}),
             "Convergence threshold: equalization stops when the weights change less than this in a pass "
             "(with -1 steps; quark: with any number of steps).")
        .changesModel();
    table
        .add("transforms.equalization.exclude_skipped", AT(transforms.equalization.excludeSkipped),
             booleanField(), "Do not equalize layers that stay in float.")
        .changesModel();
    table
        .add("transforms.equalization.off", AT(transforms.equalization.off), nameSetsField(),
             "Equalization groups that are not scaled, each given by the names of its layers.")
        .changesModel()
        .namesLayers();
    table
        .add("transforms.high_bias_fold", AT(transforms.highBiasFold), booleanField(),
             "After equalization, move large biases into the next layer.")
        .option("--high-bias-fold")
        .changesModel();
    table.group(
        "transforms.npu_operators",
        "Operators that AMD's NPU computes differently from ONNX, as Quark writes them into the model.");
    table
        .add("transforms.npu_operators.average_pool", AT(transforms.npuOperators.averagePool), booleanField(),
             "Means are computed with a factor k / 2^n instead of 1 / N: AveragePool, GlobalAveragePool, "
             "ReduceMean.")
        .changesModel();
    table
        .add("transforms.npu_operators.leaky_relu", AT(transforms.npuOperators.leakyRelu), booleanField(),
             "Slopes of LeakyRelu are multiples of 1/256.")
        .changesModel();
    table
        .add("transforms.npu_operators.sigmoid", AT(transforms.npuOperators.sigmoid), booleanField(),
             "Sigmoid becomes HardSigmoid with the slope 2731/16384.")
        .changesModel();
}

void addNpuPositions(FieldTable& table) {
    const std::string group = "quantization.npu_positions";
    table.group(
        group, "Requirements of AMD's NPU for power-of-two scales 2^-position (Quark's NPULimitationCheck).");
#define POSITION(key, member, help) \
    table.add(group + "." key, AT(quantization.npuPositions.member), booleanField(), help)
    POSITION("align_concat", alignConcat,
             "The inputs and the output of a Concat get the same position, the smallest.");
    POSITION("align_pool", alignPool,
             "The input and the output of a pool get the same position, the smaller of the two.");
    POSITION("align_pad", alignPad, "The same for Pad.");
    POSITION("align_slice", alignSlice, "The same for Slice.");
    POSITION("adjust_shift_read", adjustShiftRead,
             "The positions of the inputs of an Add or Sub differ by at most 7.");
    POSITION("adjust_shift_write", adjustShiftWrite,
             "Add: smallest input - output is in -7..25. Mul: sum of the inputs - output is in 0..32.");
    POSITION("adjust_shift_cut", adjustShiftCut, "Conv, Gemm: weight + input - output is in 0..16.");
    POSITION("adjust_shift_bias", adjustShiftBias,
             "Conv, Gemm: weight + input - bias is in min(0, cut - 16)..15, where cut is weight + input - "
             "output.");
    POSITION("adjust_hard_sigmoid", adjustHardSigmoid,
             "HardSigmoid: the input is in 0..15, the output from 7 to 14 + input.");
    POSITION("adjust_shift_swish", adjustShiftSwish,
             "x * HardSigmoid(x): sum of the inputs - output is in 0..15.");
#undef POSITION
    table.add(group + ".max_loops", AT(quantization.npuPositions.maxLoops), integerField(1, 100),
              "Maximum number of passes over all rules.");
}

void addQuantization(FieldTable& table) {
    table.group("quantization", "Quantized tensors and their codes.");
    table
        .add("quantization.placement", AT(quantization.placement), choiceField(kPlacements),
             "Quantized tensors: all inputs and outputs of quantized layers, for all nodes that read them "
             "(ONNX Runtime), or only the inputs of weighted layers, each for its layer only (AMCT).")
        .changesModel();
    table
        .add("quantization.operators", AT(quantization.operators), choiceField(kOperatorSets),
             "Quantized operators: weighted layers, sums and operators that move values; the operators that "
             "AIMET quantizes; or the operators that the quantizer of ONNX Runtime or Quark supports, "
             "including constant operands.")
        .changesModel();
    table
        .add("quantization.bias_bits", AT(quantization.biasBits), biasBitsField(),
             "Bits of biases. 32: the scale is input scale times weight scale; 16, 8: with a power-of-two "
             "scale of their own; float: not quantized.")
        .layer(AT(biasBits));
    table.add("quantization.rounding", AT(quantization.rounding), choiceField(kTieRoundings),
              "Rounding of values halfway between two codes: to even, as in ONNX's QuantizeLinear, or as in "
              "AIMET's operator, which is always simulated in float.");
    table.group("quantization.activation", "Activations.");
    table
        .add("quantization.activation.bits", AT(quantization.activation.bits), integerField(2, 16),
             "Bits of activations, 2 to 16.")
        .option("--activation-bits")
        .layer(AT(activationBits));
    table
        .add("quantization.activation.signed", AT(quantization.activation.isSigned), booleanField(),
             "Signed codes.")
        .layer(AT(activationSigned));
    table
        .add("quantization.activation.symmetric", AT(quantization.activation.symmetric), booleanField(),
             "Symmetric activations: the zero point is 0, or the middle of the range for unsigned codes.")
        .option("--symmetric")
        .changesModel()
        .layer(AT(activationSymmetric));
    table
        .add("quantization.activation.power_of_two", AT(quantization.activation.powerOfTwo), booleanField(),
             "Round scales to powers of two.")
        .layer(AT(activationPowerOfTwo));
    table.group("quantization.weight", "Weights.");
    table
        .add("quantization.weight.bits", AT(quantization.weight.bits), integerField(2, 16),
             "Bits of weights, 2 to 16.")
        .option("--weight-bits")
        .layer(AT(weightBits));
    table.add("quantization.weight.signed", AT(quantization.weight.isSigned), booleanField(), "Signed codes.")
        .layer(AT(weightSigned));
    table
        .add("quantization.weight.symmetric", AT(quantization.weight.symmetric), booleanField(),
             "Symmetric weights: the zero point is 0, or the middle of the range for unsigned codes.")
        .layer(AT(weightSymmetric));
    table
        .add("quantization.weight.restricted", AT(quantization.weight.restricted), booleanField(),
             "Codes start at -(2^(bits-1)-1), so that the range is symmetric; otherwise at -2^(bits-1).")
        .layer(AT(weightRestricted));
    table
        .add("quantization.weight.per_channel", AT(quantization.weight.perChannel), booleanField(),
             "One weight scale per output channel.")
        .option("--per-channel")
        .layer(AT(weightPerChannel));
    table.add("quantization.weight.per_channel_products", AT(quantization.weight.perChannelProducts),
              booleanField(), "If per_channel is true: use one scale per channel for Gemm and MatMul, too.");
    table
        .add("quantization.weight.power_of_two", AT(quantization.weight.powerOfTwo), booleanField(),
             "Scales are powers of two.")
        .layer(AT(weightPowerOfTwo));
    table
        .add("quantization.weight.method", AT(quantization.weight.method), choiceField(kWeightMethods),
             "How weight scales are chosen; docs/calibration.md explains the methods.")
        .layer(AT(weightMethod));
    addNpuPositions(table);
}

void addCalibration(FieldTable& table) {
    table.group("calibration", "How activation ranges are determined.");
    table
        .add("calibration.method", AT(calibration.method), choiceField(kCalibrationMethods),
             "How activation ranges are determined; docs/calibration.md explains the methods. --set "
             "calibration.parameters.KEY=VALUE sets their parameters.")
        .option("--calibration")
        .layer(AT(calibrationMethod));
    table
        .add("calibration.samples", AT(calibration.samples), integerField(1, kMostCalibrationSamples),
             "Number of calibration samples, spread evenly over the calibration data.")
        .option("--calibration-samples");
    table.group("calibration.parameters",
                "Parameters of the method; parameters of other methods have no effect. The default of a "
                "missing or null parameter depends on the method.");
#define PARAMETER(key, member, type, help)                                                                 \
    table.add("calibration.parameters." key, AT(calibration.parameters.member), optionalField(type), help) \
        .layer(AT(calibrationParameters.member))
    const NumberBounds percentile{.least = 0.5, .most = 1, .leastIncluded = false};
    PARAMETER("averaging_constant", averagingConstant, numberField({.least = 0, .most = 1}),
              "moving_average: weight of the next sample, 0.01; 0 is the plain mean.");
    PARAMETER("percentile", percentile, numberField(percentile),
              "percentile: fraction of the values that is not clipped, 0.99999.");
    PARAMETER("num_bins", bins, binCountField(128), "percentile, power_of_two_min_mse: 2048; entropy: 128.");
    PARAMETER("num_quantized_bins", quantizedBins, integerField(2, 8192), "entropy: 128.");
    PARAMETER("mode", mode, choiceField(kPowerOfTwoModes),
              "power_of_two_min_mse: the best scale for all samples together, or the scale that is best for "
              "most samples.");
    PARAMETER("max_percentile", maxPercentile, numberField(percentile), "ifmr: 0.999999.");
    PARAMETER("min_percentile", minPercentile, numberField(percentile), "ifmr: 0.999999.");
    PARAMETER("search_range", searchRange, intervalField(),
              "[start, end] with start < end: multiples of the percentile's value (ifmr, [0.7, 1.3]) or of "
              "the full range (mse, [0.2, 1]).");
    PARAMETER("search_step", searchStep, numberField({.least = 0, .most = 1000, .leastIncluded = false}),
              "ifmr, mse: 0.01; at most the width of search_range.");
    PARAMETER("num_of_bins", numOfBins, binCountField(kHfmgBins.front()), "hfmg: 4096.");
#undef PARAMETER
    table.add("calibration.quantized_weights", AT(calibration.quantizedWeights), booleanField(),
              "Calibrate the network with quantized weights, as AIMET does. Changing the bits or the scheme "
              "of the weights then requires a new calibration.");
}

void addRefinements(FieldTable& table) {
    table.group("refine", "Refinements that need the quantizers.");
    table
        .add("refine.bias_correction", AT(refine.biasCorrection), choiceField(kBiasCorrections),
             "Correct biases for the shift of each channel's mean that is caused by rounding the weights, "
             "with means from calibration data or from batch norms.")
        .option("--bias-correction");
    table
        .add("refine.rounding", AT(refine.rounding), choiceField(kRoundings),
             "Rounding of weights: to the nearest code, or up or down, learned layer by layer on calibration "
             "data (AdaRound).")
        .option("--rounding");
    table
        .add("refine.migration", AT(refine.migration), numberField({.least = 0, .most = 1}),
             "Move activation outliers of Gemm and MatMul inputs into the weights (SmoothQuant): channel c "
             "is divided by max|x|^migration / max|w|^(1 - migration). 0: off. Needs calibration data.")
        .option("--migration")
        .changesModel();
}

void addExport(FieldTable& table) {
    table.group("export", "How the quantized model is written. Results do not depend on it.");
    table
        .add("export.float_weights", AT(exports.floatWeights), booleanField(),
             "Write weights as float, followed by QuantizeLinear and DequantizeLinear, instead of integers. "
             "Biases with 32 bits are always integers, because QuantizeLinear cannot produce them.")
        .option("--float-weights")
        .effect(FieldEffect::Export);
    table
        .add("export.four_bit_types", AT(exports.fourBitTypes), booleanField(),
             "Write constants of up to 4 bits as int4 and uint4, which need opset 21; otherwise as int8 and "
             "uint8. Activations always have at least 8 bits, because ONNX Runtime has no 4-bit kernels for "
             "them.")
        .option("--four-bit-types")
        .effect(FieldEffect::Export);
}

void addSelection(FieldTable& table) {
    table.group("skip", "Layers that stay in float.");
    table
        .add("skip.tail", AT(skipTail), booleanField(),
             "Keep the tail (the last weighted layers before each output, and everything after them) in "
             "float if it has at most 3 layers and 2 % of the MACs.")
        .effect(FieldEffect::Selection);
    table
        .add("skip.whole_tail", AT(wholeTail), booleanField(),
             "With tail: skip the tail regardless of its size, as CLIKA does.")
        .effect(FieldEffect::Selection);
    table.add("skip.rules", AT(rules), rulesField(), "Rules that keep layers in float.")
        .effect(FieldEffect::Selection)
        .namesLayers();
    table
        .add("precision_rules", AT(precisionRules), precisionRulesField(),
             "Rules that set the precision of layers; later rules take precedence over earlier ones.")
        .namesLayers();
    table
        .add("layers", AT(layers), layersField(),
             "Settings of single layers by name; they take precedence over every rule.")
        .namesLayers();
}

#undef AT

}  // namespace

std::string Field::layerKey() const {
    constexpr std::string_view kPrefix = "quantization.";
    return key.starts_with(kPrefix) ? key.substr(kPrefix.size()) : key;
}

const Field& FieldTable::at(std::string_view key) const {
    for (const Field& field : fields)
        if (field.key == key) return field;
    fail(ErrorKind::Internal, "the configuration has no field '{}'", key);
}

std::span<const Field> FieldTable::below(std::string_view prefix) const {
    const auto inside = [&](const Field& field) { return field.key.starts_with(prefix); };
    const auto first = std::ranges::find_if(fields, inside);
    return {first, std::find_if_not(first, fields.end(), inside)};
}

const FieldTable& configFields() {
    static const FieldTable kTable = [] {
        FieldTable table;
        addTransforms(table);
        addQuantization(table);
        addCalibration(table);
        addRefinements(table);
        addExport(table);
        addSelection(table);
        return table;
    }();
    return kTable;
}

const std::vector<Field>& layerFields() {
    static const std::vector<Field> kFields = [] {
        std::vector<Field> fields;
        for (const Field& field : configFields().fields)
            if (field.ofLayer()) fields.push_back(field);
        return fields;
    }();
    return kFields;
}

}  // namespace quantloupe
