// SPDX-License-Identifier: Apache-2.0
// AMD Quark: a script with its legacy API (Config, QuantizationConfig), the float model that it quantizes,
// and the same settings as QConfig JSON for the new API.
//
// The script gets the source model if Quark's own transforms are the same as the preview's, otherwise the
// transformed model. include_cle is always written because its default has changed between versions.
// Exclusions contain a node's name and that of its output tensor, see quark_settings.cpp.

#include <algorithm>

#include "base/error.h"
#include "config/config_fields.h"
#include "interchange/quark/quark_settings.h"
#include "interchange/text/python_text.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

std::string typeName(bool isSigned, int bits) {
    return fmt::format("{}.Q{}Int{}", bits == 8 ? "QuantType" : "ExtendedQuantType", isSigned ? "" : "U",
                       bits);
}

/// Writes only disabled options: enable_npu_cnn enables all of them. A transformed model already contains the
/// NPU's operators.
void npuOptions(const QuantizationConfig& config, const QuarkSettings& s,
                const std::function<void(const char*, bool)>& flag) {
    const NpuOperators& ops = config.transforms.npuOperators;
    if (!s.ownTransforms || ops == NpuOperators{}) {
        flag("SimulateDPU", false);
    } else {
        for (const auto& [key, conversion] : kQuarkOperatorFlags)
            if (!(ops.*conversion)) flag(key, false);
    }
    const NpuPositions& npu = config.quantization.npuPositions;
    if (std::ranges::none_of(kQuarkPositionFlags, [&](const auto& rule) { return npu.*rule.second; }))
        return flag("NPULimitationCheck", false);
    for (const auto& [key, rule] : kQuarkPositionFlags)
        if (!(npu.*rule)) flag(key, false);
}

std::string pythonOf(const OrderedJson& value) {
    if (value.is_boolean()) return std::string(pythonBool(value.get<bool>()));
    if (value.is_string()) return pythonString(value.get<std::string>());
    return value.is_number_float() ? pythonFloat(value.get<double>()) : value.dump();
}

std::vector<std::string> extraOptions(const QuantizationConfig& config, const QuarkSettings& s) {
    std::vector<std::string> options;
    const auto add = [&](std::string_view key, const std::string& value) {
        options.push_back(fmt::format("\"{}\": {}", key, value));
    };
    const auto flag = [&](const char* key, bool value) { add(key, std::string(pythonBool(value))); };
    flag("ActivationSymmetric", config.quantization.activation.symmetric);
    flag("WeightSymmetric", config.quantization.weight.symmetric);
    quarkCalibration(config,
                     [&](std::string_view key, const OrderedJson& value) { add(key, pythonOf(value)); });
    quarkFlags(config, s, flag);
    if (s.includeCle) {
        const EqualizationOptions& e = config.transforms.equalization;
        flag("ReplaceClip6Relu", s.replaceClip6);
        add("CLESteps", std::to_string(e.steps));
        flag("CLEScaleAppendBias", e.appendBias);
        add("CLEWeightThreshold", pythonFloat(e.weightThreshold));
        add("CLETotalLayerDiffThreshold", pythonFloat(e.totalLayerDiffThreshold));
    }
    return options;
}

std::string quarkScript(const ExportSource& source, const QuarkSettings& s, const std::string& model) {
    const QuantizationOptions& q = source.config.quantization;
    const bool extended = s.activationBits != 8 || s.weightBits != 8;
    std::string types = "CalibrationDataReader, QuantType";
    if (!extended) types += ", QuantFormat";
    std::string quark = "ModelQuantizer";
    if (extended) quark += ", ExtendedQuantFormat, ExtendedQuantType";
    if (s.powerOfTwo) quark += ", PowerOfTwoMethod";
    QuantizingScript script;
    script.tool = "AMD Quark";
    script.help =
        R"(DATA are calibration samples: a folder of images, .npy, .npz or ONNX test data. Needs amd-quark with its ONNX quantizer, onnx, numpy,
and Pillow for images.
)";
    script.imports = fmt::format(R"(from onnxruntime.quantization import {}{}
from quark.onnx import {}
from quark.onnx.quantization.config.config import Config, QuantizationConfig
)",
                                 types, s.powerOfTwo ? "" : ", CalibrationMethod", quark);
    script.settings = fmt::format(
        R"(# Layers that stay in float. A Conv whose batch norm Quark folds gets its output tensor's name, so both names are listed.
NODES_TO_EXCLUDE = {}
)",
        pythonNames(s.excluded));
    script.main = fmt::format(R"(    config = QuantizationConfig(
        quant_format={0}.QDQ,
        calibrate_method={1},
        activation_type={2},
        weight_type={3},
        per_channel={4},
        enable_npu_cnn={5},
        include_cle={6},
        nodes_to_exclude=NODES_TO_EXCLUDE,
        extra_options={{
            {7},
        }},
    )
    quantizer = ModelQuantizer(Config(global_quant_config=config))
    quantizer.quantize_model(str(MODEL), arguments.output, Reader(str(MODEL), arguments.data, SAMPLES))
)",
                              extended ? "ExtendedQuantFormat" : "QuantFormat", s.method,
                              typeName(q.activation.isSigned, s.activationBits),
                              typeName(q.weight.isSigned, s.weightBits), pythonBool(q.weight.perChannel),
                              pythonBool(s.npu), pythonBool(s.includeCle),
                              fmt::join(extraOptions(source.config, s), ",\n            "));
    return pythonScript(source, model, script);
}

}  // namespace

void quarkCalibration(const QuantizationConfig& config,
                      const std::function<void(std::string_view, const OrderedJson&)>& add) {
    const CalibrationMethod method = config.calibration.method;
    if (method == CalibrationMethod::Percentile)
        add("Percentile", 100 * *withDefaults(method, config.calibration.parameters).percentile);
    if (method == CalibrationMethod::MovingAverage && config.calibration.parameters.averagingConstant == 0.0)
        add(kQuarkMovingAverage, true);
    for (const QuarkParameter& parameter : kQuarkParameters) {
        if (std::ranges::count(parameter.methods, method) == 0) continue;
        OrderedJson value = configFields().at(parameter.key).write(config);
        if (value.is_null()) continue;
        if (parameter.option == kQuarkMode) value = value == "all" ? "All" : "MostCommon";
        add(parameter.option, value);
    }
}

void quarkFlags(const QuantizationConfig& config, const QuarkSettings& s,
                const std::function<void(const char*, bool)>& flag) {
    if (config.quantization.biasBits == kFloatBias) flag("QuantizeBias", false);
    // By default, Quark also folds the batch norms of the exported model.
    if (!config.transforms.foldBatchNorm || !config.transforms.skipFolding.empty())
        flag("FoldBatchNorm", false);
    if (!s.npu) return;
    if (config.quantization.biasBits == 32) flag("Int32Bias", true);
    if (config.quantization.biasBits == 16) flag("Int16Bias", true);
    npuOptions(config, s, flag);
}

ExportResult writeQuark(const ExportSource& source) {
    const QuarkSettings settings = quarkSettings(source);
    const std::string model = ".float.onnx";
    ExportResult result;
    result.notices = settings.notices;
    result.files.push_back(
        {"", quarkScript(source, settings, source.output.stem().string() + model), nullptr, true});
    result.files.push_back({model, "", settings.model, false});
    result.files.push_back({".qconfig.json", quarkJson(source, settings), nullptr, false});
    return result;
}

}  // namespace quantloupe
