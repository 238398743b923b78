// SPDX-License-Identifier: Apache-2.0
// The configuration's JSON, read. Strict: what this version would not obey is refused, by name.

#include "base/atomic_file.h"
#include "config/calibration_json.h"
#include "config/config_choices.h"
#include "config/config_json.h"
#include "config/equalization_json.h"
#include "config/presets.h"

namespace quantloupe {
namespace {

void collectKeys(const Json& json, const std::string& path, std::vector<std::string>& keys) {
    for (const auto& item : json.items()) {
        const std::string name = path.empty() ? item.key() : path + "." + item.key();
        keys.push_back(name);
        if (item.value().is_object()) collectKeys(item.value(), name, keys);
    }
}

/// All dotted names, for suggestions.
const std::vector<std::string>& allKeys() {
    static const std::vector<std::string> kKeys = [] {
        std::vector<std::string> keys;
        collectKeys(Json::parse(configToJson(QuantizationConfig{})), "", keys);
        return keys;
    }();
    return kKeys;
}

void readTransforms(ObjectReader reader, TransformOptions& options) {
    reader.boolean("simplify", options.simplify);
    reader.boolean("fold_batch_norm", options.foldBatchNorm);
    reader.texts("skip_folding", options.skipFolding);
    reader.choice("replace_relu6", options.replaceRelu6, kReplaceRelu6);
    readEqualization(reader.object("equalization"), options.equalization, allKeys());
    reader.boolean("high_bias_fold", options.highBiasFold);
    ObjectReader npu = reader.object("npu_operators");
    npu.boolean("average_pool", options.npuOperators.averagePool);
    npu.boolean("leaky_relu", options.npuOperators.leakyRelu);
    npu.boolean("sigmoid", options.npuOperators.sigmoid);
    npu.finish();
    reader.finish();
}

void readBits(ObjectReader& reader, std::string_view key, int& bits) { reader.integer(key, bits, 2, 16); }

void readBiasBits(ObjectReader& reader, int& bits) {
    const Json* value = reader.find("bias_bits");
    if (value == nullptr) return;
    if (*value == "float") bits = kFloatBias;
    else if (*value == 8 || *value == 16 || *value == 32) bits = value->get<int>();
    else failInput("{}: must be 8, 16, 32 or 'float', not {}", reader.pathOf("bias_bits"), describeValue(*value));
}

void readNpuPositions(ObjectReader reader, NpuPositions& npu) {
    reader.boolean("align_concat", npu.alignConcat);
    reader.boolean("align_pool", npu.alignPool);
    reader.boolean("align_pad", npu.alignPad);
    reader.boolean("align_slice", npu.alignSlice);
    reader.boolean("adjust_shift_read", npu.adjustShiftRead);
    reader.boolean("adjust_shift_write", npu.adjustShiftWrite);
    reader.boolean("adjust_shift_cut", npu.adjustShiftCut);
    reader.boolean("adjust_shift_bias", npu.adjustShiftBias);
    reader.boolean("adjust_hard_sigmoid", npu.adjustHardSigmoid);
    reader.boolean("adjust_shift_swish", npu.adjustShiftSwish);
    reader.integer("max_loops", npu.maxLoops, 1, 100);
    reader.finish();
}

void readQuantization(ObjectReader reader, QuantizationOptions& options) {
    reader.choice("placement", options.placement, kPlacements);
    reader.choice("operators", options.operators, kOperatorSets);
    readNpuPositions(reader.object("npu_positions"), options.npuPositions);
    readBiasBits(reader, options.biasBits);
    reader.choice("rounding", options.rounding, kTieRoundings);
    ObjectReader activation = reader.object("activation");
    readBits(activation, "bits", options.activation.bits);
    activation.boolean("signed", options.activation.isSigned);
    activation.boolean("symmetric", options.activation.symmetric);
    activation.boolean("power_of_two", options.activation.powerOfTwo);
    activation.finish();
    ObjectReader weight = reader.object("weight");
    readBits(weight, "bits", options.weight.bits);
    weight.boolean("signed", options.weight.isSigned);
    weight.boolean("symmetric", options.weight.symmetric);
    weight.boolean("restricted", options.weight.restricted);
    weight.boolean("per_channel", options.weight.perChannel);
    weight.boolean("per_channel_products", options.weight.perChannelProducts);
    weight.boolean("power_of_two", options.weight.powerOfTwo);
    weight.choice("method", options.weight.method, kWeightMethods);
    weight.finish();
    reader.finish();
}

void readCalibration(ObjectReader reader, CalibrationOptions& options) {
    reader.choice("method", options.method, kCalibrationMethods);
    reader.integer("samples", options.samples, 1, 1'000'000);
    readCalibrationParameters(reader.object("parameters"), options.parameters);
    reader.boolean("quantized_weights", options.quantizedWeights);
    reader.finish();
}

void needText(const ObjectReader& reader, std::string_view key, const std::string& value) {
    if (value.empty()) failInput("{}: is missing or empty; this kind of rule needs it", reader.pathOf(key));
}

void needTexts(const ObjectReader& reader, std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) failInput("{}: is missing or empty; this kind of rule needs it", reader.pathOf(key));
}

void readThresholdRule(ObjectReader& reader, SkipRule& rule) {
    if (reader.find("metric") == nullptr)
        failInput("{}: is missing; this kind of rule needs it", reader.pathOf("metric"));
    reader.choice("metric", rule.metric, kSkipMetrics);
    const Json *above = reader.find("above"), *below = reader.find("below");
    reader.finish();
    if ((above == nullptr) == (below == nullptr))
        failInput("{}: a threshold needs either above or below, and not both", reader.path());
    rule.below = below != nullptr;
    const Json& value = rule.below ? *below : *above;
    if (!value.is_number())
        failInput("{}: must be a number, not {}", reader.pathOf(rule.below ? "below" : "above"), describeValue(value));
    rule.threshold = value.get<double>();
}

SkipRule readRule(ObjectReader reader) {
    SkipRule rule;
    if (reader.find("kind") == nullptr) failInput("{}: a rule needs its kind", reader.pathOf("kind"));
    reader.choice("kind", rule.kind, kSkipKinds);
    reader.boolean("off", rule.off);
    switch (rule.kind) {
        case SkipKind::Node:
            reader.texts("layers", rule.layers);
            reader.finish();
            needTexts(reader, "layers", rule.layers);
            break;
        case SkipKind::Until:
            reader.text("from", rule.from);
            reader.texts("to", rule.to);
            reader.finish();
            needText(reader, "from", rule.from);
            needTexts(reader, "to", rule.to);
            break;
        case SkipKind::Downstream:
            reader.text("from", rule.from);
            reader.finish();
            needText(reader, "from", rule.from);
            break;
        case SkipKind::Type:
            reader.text("op", rule.op);
            reader.finish();
            needText(reader, "op", rule.op);
            break;
        case SkipKind::Pattern:
            reader.text("regex", rule.regex);
            reader.finish();
            needText(reader, "regex", rule.regex);
            break;
        case SkipKind::Block:
            reader.text("like", rule.like);
            reader.finish();
            needText(reader, "like", rule.like);
            break;
        case SkipKind::Threshold:
            readThresholdRule(reader, rule);
            break;
    }
    return rule;
}

void readSkip(ObjectReader reader, QuantizationConfig& config) {
    reader.boolean("tail", config.skipTail);
    reader.boolean("whole_tail", config.wholeTail);
    if (const Json* rules = reader.find("rules")) {
        if (!rules->is_array())
            failInput("{}: must be a list of rules, not {}", reader.pathOf("rules"), describeValue(*rules));
        config.rules.clear();
        for (const Json& rule : *rules)
            config.rules.push_back(
                readRule(ObjectReader(rule, fmt::format("skip.rules[{}]", config.rules.size()), allKeys())));
    }
    reader.finish();
}

LayerSettings readLayer(ObjectReader reader) {
    LayerSettings settings;
    readOptional(reader, "quantize", settings.quantize, [&](auto key, bool& v) { reader.boolean(key, v); });
    reader.text("comment", settings.comment);
    const auto flag = [](ObjectReader& part, std::string_view key, std::optional<bool>& target) {
        readOptional(part, key, target, [&](auto k, bool& v) { part.boolean(k, v); });
    };
    const auto bits = [](ObjectReader& part, std::string_view key, std::optional<int>& target) {
        readOptional(part, key, target, [&](auto k, int& v) { readBits(part, k, v); });
    };
    readOptional(reader, "bias_bits", settings.biasBits, [&](auto, int& v) { readBiasBits(reader, v); });
    ObjectReader weight = reader.object("weight");
    bits(weight, "bits", settings.weightBits);
    flag(weight, "signed", settings.weightSigned);
    flag(weight, "symmetric", settings.weightSymmetric);
    flag(weight, "restricted", settings.weightRestricted);
    flag(weight, "per_channel", settings.weightPerChannel);
    flag(weight, "power_of_two", settings.weightPowerOfTwo);
    readOptional(weight, "method", settings.weightMethod,
                 [&](auto key, WeightMethod& v) { weight.choice(key, v, kWeightMethods); });
    weight.finish();
    ObjectReader activation = reader.object("activation");
    bits(activation, "bits", settings.activationBits);
    flag(activation, "signed", settings.activationSigned);
    flag(activation, "symmetric", settings.activationSymmetric);
    flag(activation, "power_of_two", settings.activationPowerOfTwo);
    activation.finish();
    ObjectReader calibration = reader.object("calibration");
    readOptional(calibration, "method", settings.calibrationMethod,
                 [&](auto key, CalibrationMethod& v) { calibration.choice(key, v, kCalibrationMethods); });
    readCalibrationParameters(calibration.object("parameters"), settings.calibrationParameters);
    calibration.finish();
    reader.finish();
    return settings;
}

void readLayers(const Json& json, std::map<std::string, LayerSettings>& layers) {
    if (!json.is_object())
        failInput("layers: must be an object of layers by name, not {}", describeValue(json));
    layers.clear();
    for (const auto& item : json.items()) {
        if (item.key().empty()) failInput("layers: a layer has an empty name");
        layers[item.key()] = readLayer(ObjectReader(item.value(), "layers." + item.key(), allKeys()));
    }
}

void checkFormat(const Json* format) {
    if (format == nullptr || *format == kConfigFormat) return;
    if (!format->is_number())
        failInput("quantloupe: must be the format's number, {}, not {}", kConfigFormat,
                  describeValue(*format));
    fail(ErrorKind::Unsupported,
         "quantloupe: the configuration has format {}, and this version of Quantloupe reads format {}; save "
         "it again "
         "with the version that wrote it, or use a newer Quantloupe",
         describeValue(*format), kConfigFormat);
}

}  // namespace

QuantizationConfig configFromJson(std::string_view text) {
    const Json json = parseStrictJson(text);
    ObjectReader reader(json, "", allKeys());
    checkFormat(reader.find("quantloupe"));
    std::string preset = QuantizationConfig{}.preset;
    reader.text("preset", preset);
    QuantizationConfig config;
    try {
        config = presetConfig(preset);
    } catch (Error& error) {
        error.addContext("preset");
        throw;
    }
    readTransforms(reader.object("transforms"), config.transforms);
    readQuantization(reader.object("quantization"), config.quantization);
    readCalibration(reader.object("calibration"), config.calibration);
    ObjectReader refine = reader.object("refine");
    refine.choice("bias_correction", config.refine.biasCorrection, kBiasCorrections);
    refine.choice("rounding", config.refine.rounding, kRoundings);
    refine.number("migration", config.refine.migration, 0, 1, " (0: off)");
    refine.finish();
    ObjectReader exports = reader.object("export");
    exports.boolean("float_weights", config.exports.floatWeights);
    exports.boolean("four_bit_types", config.exports.fourBitTypes);
    exports.finish();
    readSkip(reader.object("skip"), config);
    if (const Json* layers = reader.find("layers")) readLayers(*layers, config.layers);
    reader.finish();
    return config;
}

QuantizationConfig loadConfig(const std::filesystem::path& path) {
    const std::string text = readFile(path);
    try {
        return configFromJson(text);
    } catch (Error& error) {
        error.addContext(fmt::format("configuration '{}'", path.filename().string()));
        throw;
    }
}

}  // namespace quantloupe
