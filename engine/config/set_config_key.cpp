// SPDX-License-Identifier: Apache-2.0
// Sets one key of the configuration by its dotted path. It edits the JSON and reads it again, so that a key
// that is set is checked like one in a file.

#include <cmath>

#include "base/text.h"
#include "config/config_json.h"
#include "config/layer_json.h"
#include "config/object_reader.h"
#include "config/presets.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxParts = 8;  // more than any key has

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t dot = path.find('.');
        parts.emplace_back(path.substr(0, dot));
        if (dot == std::string_view::npos) return parts;
        if (parts.size() == kMaxParts)
            failInput("unknown key '{}...': no key has more than {} parts", fmt::join(parts, "."), kMaxParts);
        path.remove_prefix(dot + 1);
    }
}

/// Splits "layers.features.3.conv.weight.bits" into layers, features.3.conv, weight and bits.
std::vector<std::string> splitLayerPath(std::string_view path, const Json& value) {
    std::string_view rest = path.substr(std::string_view("layers.").size());
    std::vector<std::string> parts = {"layers"};
    // The longest key is tried first, because the layer's name may contain dots.
    for (const std::string& key : layerKeys()) {
        if (rest.size() < key.size() + 2 || !rest.ends_with(key)) continue;
        const std::string_view name = rest.substr(0, rest.size() - key.size());
        if (name.back() != '.') continue;
        parts.emplace_back(name.substr(0, name.size() - 1));
        for (std::string& part : split(key)) parts.push_back(std::move(part));
        return parts;
    }
    // All settings of the layer: an object, or null to clear them.
    if (!rest.empty() && (value.is_object() || value.is_null())) {
        parts.emplace_back(rest);
        return parts;
    }
    failInput("unknown key '{}'; it must be layers.NAME.KEY with one of the keys {}", path,
              fmt::join(layerKeys(), ", "));
}

/// The value as JSON; as a number if only JSON's grammar forbids its spelling, such as .5; otherwise as text.
Json valueOf(std::string_view text) {
    if (Json::accept(text)) return parseStrictJson(text);
    if (const auto number = parsed<double>(text); number && std::isfinite(*number)) return *number;
    return std::string(text);
}

bool isText(const Json& json, const std::vector<std::string>& parts) {
    if (parts.front() == "layers" && parts.back() == "comment") return true;
    const Json* here = &json;
    for (const std::string& part : parts) {
        if (!here->is_object() || !here->contains(part)) return false;
        here = &here->at(part);
    }
    return here->is_string();
}

QuantizationConfig withKey(const QuantizationConfig& config, std::string_view path,
                           const std::vector<std::string>& parts, Json newValue) {
    Json json = Json::parse(configToJson(config));
    Json* here = &json;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        here = &(*here)[parts[i]];
        if (here->is_null()) *here = Json::object();
        if (here->is_array())
            failInput("the key '{}' is inside a list, which can only be set as a whole", path);
        if (!here->is_object()) failInput("unknown key '{}': '{}' is a single value", path, parts[i]);
    }
    const bool ofLayer = parts.size() > 1 && parts.front() == "layers";
    if (ofLayer && newValue.is_null())
        here->erase(parts.back());
    else
        (*here)[parts.back()] = std::move(newValue);

    std::string text;
    try {
        text = json.dump();
    } catch (const Json::exception&) {
        failInput("{}: the key or its value is not valid UTF-8", path);
    }
    QuantizationConfig changed = configFromJson(text);
    // A layer whose last setting was cleared is removed.
    if (ofLayer)
        if (const auto layer = changed.layers.find(parts[1]);
            layer != changed.layers.end() && layer->second.empty())
            changed.layers.erase(layer);
    return changed;
}

}  // namespace

void setConfigKey(QuantizationConfig& config, std::string_view path, std::string_view value) {
    if (path.empty()) failInput("the key to set is empty; a valid key is quantization.weight.bits");
    const Json newValue = valueOf(value);

    const std::vector<std::string> parts =
        path.starts_with("layers.") ? splitLayerPath(path, newValue) : split(path);
    if (parts.size() == 1 && parts.front() == "preset" && !newValue.is_null()) {
        config = withPreset(config, newValue.is_string() ? newValue.get<std::string>() : std::string(value));
        return;
    }
    // A layer's name can end with a key: layers.enc.activation.
    constexpr std::string_view kLayers = "layers.";
    const std::string layer(path.starts_with(kLayers) ? path.substr(kLayers.size()) : "");
    if (newValue.is_null() && config.layers.contains(layer)) {
        config.layers.erase(layer);
        return;
    }
    try {
        config = withKey(config, path, parts, newValue);
    } catch (const Error&) {
        if (parts.size() > 2 && !layer.empty() && newValue.is_object()) {
            try {
                config = withKey(config, path, {"layers", layer}, newValue);
                return;
            } catch (const Error&) {  // the first error describes the more likely meaning
            }
        }
        // Text that looks like a number, such as the comment 7.
        if (newValue.is_string() || newValue.is_null() || !isText(Json::parse(configToJson(config)), parts))
            throw;
        config = withKey(config, path, parts, std::string(value));
    }
}

}  // namespace quantloupe
