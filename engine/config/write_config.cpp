// SPDX-License-Identifier: Apache-2.0
// Writes the configuration as JSON with all keys, so that a file does not depend on defaults. A field without
// a value is left out, or null if the preset sets it.

#include <algorithm>
#include <map>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/config_choices.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/presets.h"

namespace quantloupe {
namespace {

/// "calibration.parameters.num_bins" as a JSON pointer.
OrderedJson::json_pointer pointerTo(std::string key) {
    std::ranges::replace(key, '.', '/');
    return OrderedJson::json_pointer("/" + key);
}

/// The fields that have a value in a preset, by its name, but none by default.
const std::map<std::string, std::vector<const Field*>>& optionalFields() {
    static const auto kFields = [] {
        std::map<std::string, std::vector<const Field*>> fields;
        for (const PresetInfo& preset : presets()) {
            const QuantizationConfig config = presetConfig(preset.name);
            for (const Field& field : configFields().fields)
                if (field.write(QuantizationConfig()).is_null() && !field.write(config).is_null())
                    fields[preset.name].push_back(&field);
        }
        return fields;
    }();
    return kFields;
}

}  // namespace

std::string configToJson(const QuantizationConfig& config) {
    OrderedJson json = {{"quantloupe", kConfigFormat}, {"preset", config.preset}};
    json.update(writeFields(configFields().fields, "", config));
    if (const auto preset = optionalFields().find(config.preset); preset != optionalFields().end())
        for (const Field* field : preset->second)
            if (field->write(config).is_null()) json[pointerTo(field->key)] = nullptr;
    try {
        return json.dump(2) + "\n";
    } catch (const OrderedJson::exception&) {
        failInput("a name or comment in the configuration is not valid UTF-8 and cannot be written as JSON");
    }
}

OrderedJson calibrationParametersToJson(const CalibrationParameters& parameters) {
    QuantizationConfig config;
    config.calibration.parameters = parameters;
    return writeFields(configFields().below(kParameterPrefix), kParameterPrefix, config);
}

void saveConfig(const QuantizationConfig& config, const std::filesystem::path& path) {
    writeFileAtomically(path, configToJson(config));
}

}  // namespace quantloupe
