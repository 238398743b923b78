// SPDX-License-Identifier: Apache-2.0
// Reads the configuration from JSON. Keys and values that this version would ignore are errors that name the
// key.

#include "base/atomic_file.h"
#include "config/config_choices.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/parameter_check.h"
#include "config/presets.h"

namespace quantloupe {
namespace {

/// Returns all dotted keys, for suggestions.
const std::vector<std::string>& allKeys() {
    static const std::vector<std::string> kKeys = [] {
        std::vector<std::string> keys = {"quantloupe", "preset"};
        for (const FieldGroup& group : configFields().groups) keys.push_back(group.key);
        for (const Field& field : configFields().fields) keys.push_back(field.key);
        return keys;
    }();
    return kKeys;
}

void checkFormat(const Json* format) {
    if (format == nullptr || *format == kConfigFormat) return;
    if (!format->is_number())
        failInput("quantloupe: must be the version of the format, {}, not {}", kConfigFormat,
                  describeValue(*format));
    fail(ErrorKind::Unsupported,
         "quantloupe: the configuration has format {}, and this version of Quantloupe reads format {}; save "
         "it again with the version that wrote it, or use a newer Quantloupe",
         describeValue(*format), kConfigFormat);
}

}  // namespace

void checkSearchStep(const std::string& path, double step, double start, double end) {
    constexpr double kMostParts = 100'000;
    if (step > end - start + 1e-9)
        failInput(
            "{}search_step: {} is larger than the width of search_range [{}, {}]; choose a smaller step",
            path, step, start, end);
    if ((end - start) / step > kMostParts)
        failInput(
            "{}search_step: {} divides search_range [{}, {}] into more than 100,000 parts; choose a larger "
            "step",
            path, step, start, end);
}

void requireSearchStep(const std::string& path, const CalibrationParameters& parameters) {
    if (!parameters.searchRange || !parameters.searchStep) return;
    const auto [start, end] = *parameters.searchRange;
    checkSearchStep(path.empty() ? "" : path + ".", *parameters.searchStep, start, end);
}

CalibrationParameters calibrationParametersFromJson(const Json& json) {
    static const std::vector<std::string> kNoKeys;
    QuantizationConfig config;
    ObjectReader reader(json, "", kNoKeys);
    readFields(reader, configFields().below(kParameterPrefix), kParameterPrefix, config);
    reader.finish();
    requireSearchStep("", config.calibration.parameters);
    return config.calibration.parameters;
}

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
    readFields(reader, configFields().fields, "", config);
    reader.finish();
    requireSearchStep("calibration.parameters", config.calibration.parameters);
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
