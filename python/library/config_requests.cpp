// SPDX-License-Identifier: Apache-2.0
// Requests about a configuration, which is JSON text.

#include "base/error.h"
#include "base/text.h"
#include "config/config_json.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "requests.h"

namespace quantloupe::python {
namespace {

/// Returns the value of a dotted key, or null if there is none. Names of layers can contain dots, too.
const OrderedJson* valueOf(const OrderedJson& json, std::string_view key) {
    if (!json.is_object()) return nullptr;
    if (const auto whole = json.find(std::string(key)); whole != json.end()) return &*whole;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1))
        if (const auto part = json.find(std::string(key.substr(0, dot))); part != json.end())
            if (const OrderedJson* found = valueOf(*part, key.substr(dot + 1))) return found;
    return nullptr;
}

}  // namespace

OrderedJson performOnConfig(const OrderedJson& request) {
    const auto what = request.at("do").get<std::string>();
    if (what == "preset") return configToJson(presetConfig(request.at("name").get<std::string>()));
    if (what == "presets") {
        OrderedJson list = OrderedJson::array();
        for (const PresetInfo& preset : presets()) list.push_back({preset.name, preset.description});
        return list;
    }
    if (what == "load") return configToJson(loadConfig(request.at("path").get<std::string>()));
    QuantizationConfig config = configFromJson(request.at("config").get<std::string>());
    if (what == "save") {
        const std::filesystem::path path = request.at("path").get<std::string>();
        if (lowerCase(path.extension().string()) != ".json")  // it could be the model or the data
            failInput("'{}' is not the name of a configuration: use a name that ends with .json",
                      path.string());
        saveConfig(config, path);
    } else if (what == "get") {
        const auto key = request.at("key").get<std::string>();
        const OrderedJson json = OrderedJson::parse(configToJson(config));
        const OrderedJson* value = valueOf(json, key);
        if (value == nullptr)
            failInput("the configuration has no key '{}'; a valid key is quantization.weight.bits", key);
        return *value;
    } else if (what == "set") {
        setConfigKey(config, request.at("key").get<std::string>(), request.at("value").get<std::string>());
    } else if (what == "skip") {
        config = withLayersSkipped(std::move(config), request.at("names").get<std::vector<std::string>>());
    } else if (what == "quantize") {
        for (const auto& name : request.at("names").get<std::vector<std::string>>())
            setLayerChoice(config, name, true);
    }
    return configToJson(config);  // also for "read", which validates the text
}

}  // namespace quantloupe::python
