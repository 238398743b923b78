// SPDX-License-Identifier: Apache-2.0
// The configuration's JSON, written. Keys whose feature is not there yet are written with their neutral
// value, so that a file says everything and stays readable for versions that have them.

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/calibration_json.h"
#include "config/config_choices.h"
#include "config/config_json.h"
#include "config/equalization_json.h"

namespace quantloupe {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson transformsJson(const TransformOptions& options) {
    return {{"simplify", options.simplify},
            {"fold_batch_norm", options.foldBatchNorm},
            {"skip_folding", options.skipFolding},
            {"replace_relu6", choiceName(kReplaceRelu6, options.replaceRelu6)},
            {"equalization", equalizationJson(options.equalization)},
            {"high_bias_fold", options.highBiasFold},
            {"npu_operators",
             {{"average_pool", options.npuOperators.averagePool},
              {"leaky_relu", options.npuOperators.leakyRelu},
              {"sigmoid", options.npuOperators.sigmoid}}}};
}

OrderedJson biasBitsJson(int bits) { return bits == kFloatBias ? OrderedJson("float") : OrderedJson(bits); }

OrderedJson npuPositionsJson(const NpuPositions& npu) {
    return {{"align_concat", npu.alignConcat},
            {"align_pool", npu.alignPool},
            {"align_pad", npu.alignPad},
            {"align_slice", npu.alignSlice},
            {"adjust_shift_read", npu.adjustShiftRead},
            {"adjust_shift_write", npu.adjustShiftWrite},
            {"adjust_shift_cut", npu.adjustShiftCut},
            {"adjust_shift_bias", npu.adjustShiftBias},
            {"adjust_hard_sigmoid", npu.adjustHardSigmoid},
            {"adjust_shift_swish", npu.adjustShiftSwish},
            {"max_loops", npu.maxLoops}};
}

OrderedJson quantizationJson(const QuantizationOptions& options) {
    return {{"placement", choiceName(kPlacements, options.placement)},
            {"operators", choiceName(kOperatorSets, options.operators)},
            {"bias_bits", biasBitsJson(options.biasBits)},
            {"rounding", choiceName(kTieRoundings, options.rounding)},
            {"activation",
             {{"bits", options.activation.bits},
              {"signed", options.activation.isSigned},
              {"symmetric", options.activation.symmetric},
              {"power_of_two", options.activation.powerOfTwo}}},
            {"weight",
             {{"bits", options.weight.bits},
              {"signed", options.weight.isSigned},
              {"symmetric", options.weight.symmetric},
              {"restricted", options.weight.restricted},
              {"per_channel", options.weight.perChannel},
              {"per_channel_products", options.weight.perChannelProducts},
              {"power_of_two", options.weight.powerOfTwo},
              {"method", choiceName(kWeightMethods, options.weight.method)}}},
            {"npu_positions", npuPositionsJson(options.npuPositions)}};
}

OrderedJson ruleJson(const SkipRule& rule) {
    OrderedJson json = {{"kind", choiceName(kSkipKinds, rule.kind)}};
    switch (rule.kind) {
        case SkipKind::Node:
            json["layers"] = rule.layers;
            break;
        case SkipKind::Until:
            json["from"] = rule.from;
            json["to"] = rule.to;
            break;
        case SkipKind::Downstream:
            json["from"] = rule.from;
            break;
        case SkipKind::Type:
            json["op"] = rule.op;
            break;
        case SkipKind::Pattern:
            json["regex"] = rule.regex;
            break;
        case SkipKind::Block:
            json["like"] = rule.like;
            break;
        case SkipKind::Threshold:
            json["metric"] = choiceName(kSkipMetrics, rule.metric);
            json[rule.below ? "below" : "above"] = rule.threshold;
            break;
    }
    if (rule.off) json["off"] = true;
    return json;
}

/// Only what the person set: a missing key means "as the network".
OrderedJson layerJson(const LayerSettings& settings) {
    OrderedJson json = OrderedJson::object();
    if (settings.quantize) json["quantize"] = *settings.quantize;
    if (!settings.comment.empty()) json["comment"] = settings.comment;
    if (settings.biasBits) json["bias_bits"] = biasBitsJson(*settings.biasBits);
    const auto put = [&json](const char* part, const char* key, const auto& value) {
        if (value) json[part][key] = *value;
    };
    put("weight", "bits", settings.weightBits);
    put("weight", "signed", settings.weightSigned);
    put("weight", "symmetric", settings.weightSymmetric);
    put("weight", "restricted", settings.weightRestricted);
    put("weight", "per_channel", settings.weightPerChannel);
    put("weight", "power_of_two", settings.weightPowerOfTwo);
    if (settings.weightMethod) json["weight"]["method"] = choiceName(kWeightMethods, *settings.weightMethod);
    put("activation", "bits", settings.activationBits);
    put("activation", "signed", settings.activationSigned);
    put("activation", "symmetric", settings.activationSymmetric);
    put("activation", "power_of_two", settings.activationPowerOfTwo);
    if (settings.calibrationMethod) json["calibration"]["method"] = choiceName(kCalibrationMethods, *settings.calibrationMethod);
    if (settings.calibrationParameters != CalibrationParameters{})
        json["calibration"]["parameters"] = calibrationParametersJson(settings.calibrationParameters);
    return json;
}

}  // namespace

std::string configToJson(const QuantizationConfig& config) {
    OrderedJson rules = OrderedJson::array();
    for (const SkipRule& rule : config.rules) rules.push_back(ruleJson(rule));
    OrderedJson layers = OrderedJson::object();
    for (const auto& [name, settings] : config.layers) layers[name] = layerJson(settings);

    OrderedJson json = OrderedJson::object();
    json["quantloupe"] = kConfigFormat;
    json["preset"] = config.preset;
    json["transforms"] = transformsJson(config.transforms);
    json["quantization"] = quantizationJson(config.quantization);
    json["calibration"] = {{"method", choiceName(kCalibrationMethods, config.calibration.method)},
                           {"samples", config.calibration.samples},
                           {"parameters", calibrationParametersJson(config.calibration.parameters)},
                           {"quantized_weights", config.calibration.quantizedWeights}};
    json["refine"] = {{"bias_correction", choiceName(kBiasCorrections, config.refine.biasCorrection)},
                      {"rounding", choiceName(kRoundings, config.refine.rounding)},
                      {"migration", config.refine.migration}};
    json["export"] = {{"float_weights", config.exports.floatWeights}, {"four_bit_types", config.exports.fourBitTypes}};
    json["skip"]["tail"] = config.skipTail;
    json["skip"]["whole_tail"] = config.wholeTail;
    json["skip"]["rules"] = std::move(rules);
    json["layers"] = std::move(layers);
    try {
        return json.dump(2) + "\n";
    } catch (const OrderedJson::exception&) {
        failInput("a name or comment in the configuration is not valid UTF-8 and cannot be written as JSON");
    }
}

void saveConfig(const QuantizationConfig& config, const std::filesystem::path& path) {
    writeFileAtomically(path, configToJson(config));
}

}  // namespace quantloupe
