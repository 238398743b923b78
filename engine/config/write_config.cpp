// SPDX-License-Identifier: Apache-2.0
// Writes the configuration as JSON with all keys, so that a file does not depend on defaults.

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/config_choices.h"
#include "config/config_fields.h"
#include "config/config_json.h"

namespace quantloupe {

std::string configToJson(const QuantizationConfig& config) {
    OrderedJson json = {{"quantloupe", kConfigFormat}, {"preset", config.preset}};
    json.update(writeFields(configFields().fields, "", config));
    try {
        return json.dump(2) + "\n";
    } catch (const OrderedJson::exception&) {
        failInput("a name or comment in the configuration is not valid UTF-8 and cannot be written as JSON");
    }
}

nlohmann::ordered_json calibrationParametersToJson(const CalibrationParameters& parameters) {
    QuantizationConfig config;
    config.calibration.parameters = parameters;
    return writeFields(configFields().below(kParameterPrefix), kParameterPrefix, config);
}

void saveConfig(const QuantizationConfig& config, const std::filesystem::path& path) {
    writeFileAtomically(path, configToJson(config));
}

}  // namespace quantloupe
