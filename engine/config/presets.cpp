// SPDX-License-Identifier: Apache-2.0
#include "config/presets.h"

#include <functional>

#include "base/error.h"
#include "config/config_fields.h"

namespace quantloupe {
namespace {

struct Preset {
    PresetInfo info;
    std::function<void(QuantizationConfig&)> apply;
};

void quantizeAll(QuantizationConfig& config) { config.skipTail = false; }

void onnxRuntime(QuantizationConfig& config) {
    quantizeAll(config);
    config.quantization.operators = OperatorSet::OnnxRuntime;
}

/// Quark's default: its configurations equalize, but not the layers that are excluded from quantization.
void quarkEqualization(QuantizationConfig& c) {
    c.transforms.equalization.excludeSkipped = true;
    c.transforms.equalization.profile = EqualizationProfile::Quark;
    c.transforms.equalization.appendBias = true;
}

/// The other effects of enable_npu_cnn: SimulateDPU and NPULimitationCheck.
void quarkNpu(QuantizationConfig& c) {
    c.transforms.npuOperators = {.averagePool = true, .leakyRelu = true, .sigmoid = true};
    c.quantization.npuPositions = {.alignConcat = true,
                                   .alignPool = true,
                                   .alignPad = true,
                                   .alignSlice = true,
                                   .adjustShiftRead = true,
                                   .adjustShiftWrite = true,
                                   .adjustShiftCut = true,
                                   .adjustShiftBias = true,
                                   .adjustHardSigmoid = true,
                                   .adjustShiftSwish = true};
}

void quarkXint8(QuantizationConfig& c) {
    quantizeAll(c);
    quarkEqualization(c);
    quarkNpu(c);
    c.quantization.operators = OperatorSet::Quark;
    c.quantization.activation.isSigned = false;
    c.quantization.activation.symmetric = true;
    c.quantization.weight.powerOfTwo = true;
    c.quantization.weight.method = WeightMethod::Mse;
    c.quantization.biasBits = 8;
    c.calibration.method = CalibrationMethod::PowerOfTwoMinMse;
}

void aimetDefault(QuantizationConfig& c) {
    quantizeAll(c);
    c.quantization.activation.isSigned = false;
    c.quantization.weight.perChannel = true;
    c.quantization.weight.restricted = false;
    c.quantization.biasBits = kFloatBias;
    c.quantization.operators = OperatorSet::Aimet;
    c.quantization.rounding = TieRounding::Aimet;
    c.calibration.quantizedWeights = true;
}

const std::vector<Preset>& all() {
    static const std::vector<Preset> kAll = {
        {{"default",
          "8-bit weights, symmetric, per tensor; 8-bit asymmetric activations; a small tail (the last "
          "weighted layers and everything after them) stays in float"},
         [](QuantizationConfig&) {}},
        {{"w4a8",
          "4-bit weights, symmetric, per tensor; 8-bit asymmetric activations; the tail is quantized, too"},
         [](QuantizationConfig& c) {
             quantizeAll(c);
             c.quantization.weight.bits = 4;
         }},
        {{"onnxruntime-s8s8",
          "ONNX Runtime's quantize_static: int8 asymmetric activations, int8 weights per tensor, min_max"},
         onnxRuntime},
        {{"onnxruntime-u8s8",
          "ONNX Runtime's quantize_static: uint8 asymmetric activations, int8 weights per tensor, min_max"},
         [](QuantizationConfig& c) {
             onnxRuntime(c);
             c.quantization.activation.isSigned = false;
         }},
        {{"onnxruntime-w4s8",
          "ONNX Runtime's quantize_static with QInt4 weights: all codes -8 to 7 at 2 absmax / 15, int8 "
          "asymmetric activations, min_max"},
         [](QuantizationConfig& c) {
             onnxRuntime(c);
             c.quantization.weight.bits = 4;
             c.quantization.weight.method = WeightMethod::FullSpan;
         }},
        {{"quark-xint8",
          "Quark's XINT8 for the NPU: equalization, power-of-two scales, uint8 symmetric activations by "
          "min-MSE, int8 weights and biases, the NPU's operators and limits on scales"},
         quarkXint8},
        {{"quark-seed",
          "Quark's example of equalization: XINT8's scheme, Clip(0, 6) replaced by Relu, one equalization "
          "pass over all pairs that includes biases"},
         [](QuantizationConfig& c) {
             quarkXint8(c);
             c.transforms.replaceRelu6 = ReplaceRelu6::All;
         }},
        {{"quark-a8w8",
          "Quark's A8W8: equalization, int8 symmetric activations, int8 weights per tensor, min_max"},
         [](QuantizationConfig& c) {
             quantizeAll(c);
             quarkEqualization(c);
             c.quantization.operators = OperatorSet::Quark;
             c.quantization.activation.symmetric = true;
         }},
        {{"amct-default",
          "AMCT's defaults: int8 affine inputs of layers with weights by IFMR; int8 weights by ARQ, per "
          "channel in convolutions; not compared with scales computed by AMCT itself"},
         [](QuantizationConfig& c) {
             quantizeAll(c);
             c.quantization.placement = Placement::WeightedInputs;
             c.quantization.weight.method = WeightMethod::Arq;
             c.quantization.weight.restricted = false;
             c.quantization.weight.perChannel = true;
             c.quantization.weight.perChannelProducts = false;
             c.calibration.method = CalibrationMethod::Ifmr;
             c.calibration.samples = 32;
         }},
        {{"clika",
          "CLIKA ACE's documented defaults: 8 bits, the tail in float; its calibration method is not "
          "published, so min_max is used"},
         [](QuantizationConfig& c) { c.wholeTail = true; }},
        {{"aimet-default",
          "AIMET's default: uint8 asymmetric activations, int8 weights per channel in the full range, float "
          "biases, min_max on the network with quantized weights; without equalization, which --cle aimet "
          "--replace-relu6 between --high-bias-fold adds as equalize_model does"},
         aimetDefault},
        {{"aimet-tf-enhanced", "aimet-default with activations calibrated by tf_enhanced"},
         [](QuantizationConfig& c) {
             aimetDefault(c);
             c.calibration.method = CalibrationMethod::TfEnhanced;
         }},
        {{"tensorrt-int8",
          "Like TensorRT's calibrator: int8 symmetric activations by entropy on 2048 bins, int8 weights per "
          "channel"},
         [](QuantizationConfig& c) {
             quantizeAll(c);
             c.quantization.activation.symmetric = true;
             c.quantization.weight.perChannel = true;
             c.calibration.method = CalibrationMethod::Entropy;
             c.calibration.parameters.bins = 2048;
         }},
    };
    return kAll;
}

}  // namespace

const std::vector<PresetInfo>& presets() {
    static const std::vector<PresetInfo> kInfos = [] {
        std::vector<PresetInfo> infos;
        for (const Preset& preset : all()) infos.push_back(preset.info);
        return infos;
    }();
    return kInfos;
}

QuantizationConfig presetConfig(std::string_view name) {
    std::string names;
    for (const Preset& preset : all()) {
        if (preset.info.name == name) {
            QuantizationConfig config;
            config.preset = name;
            preset.apply(config);
            return config;
        }
        names += (names.empty() ? "" : ", ") + preset.info.name;
    }
    failInput("there is no preset '{}'; available: {}", name, names);
}

QuantizationConfig withPreset(const QuantizationConfig& config, std::string_view name) {
    QuantizationConfig result = presetConfig(name);
    for (const Field& field : configFields().fields)
        if (field.namesLayers) field.copy(config, result);
    return result;
}

TransformOptions aimetEqualizeModel(TransformOptions transforms) {
    transforms.foldBatchNorm = true;
    transforms.replaceRelu6 = ReplaceRelu6::Between;
    transforms.equalization = {};
    transforms.equalization.profile = EqualizationProfile::Aimet;
    transforms.highBiasFold = true;
    return transforms;
}

}  // namespace quantloupe
