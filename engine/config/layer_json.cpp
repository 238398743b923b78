// SPDX-License-Identifier: Apache-2.0
#include "config/layer_json.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "config/config_fields.h"
#include "config/parameter_check.h"

namespace quantloupe {
namespace {

constexpr const char* kQuantize = "quantize";
constexpr const char* kPrecision = "precision";
constexpr const char* kComment = "comment";

void requireNoContradiction(const ObjectReader& reader, const LayerSettings& settings) {
    if (!settings.quantize || !settings.precision) return;
    if (*settings.quantize == settings.precision->isInteger()) return;
    failInput("{}: quantize is {}, but precision is {}: remove one of them", reader.path(),
              *settings.quantize, precisionName(*settings.precision));
}

LayerSettings readLayer(ObjectReader reader) {
    LayerSettings settings;
    if (reader.find(kQuantize) != nullptr)
        optionalField(booleanField()).read(reader, kQuantize, settings.quantize);
    if (reader.find(kPrecision) != nullptr)
        optionalField(precisionField()).read(reader, kPrecision, settings.precision);
    reader.text(kComment, settings.comment);
    readLayerFields(reader, layerFields(), settings);
    reader.finish();
    requireNoContradiction(reader, settings);
    requireSearchStep(reader.pathOf("calibration.parameters"), settings.calibrationParameters);
    return settings;
}

OrderedJson layerJson(const LayerSettings& settings) {
    OrderedJson json = OrderedJson::object();
    if (settings.quantize) json[kQuantize] = *settings.quantize;
    if (settings.precision) json[kPrecision] = precisionName(*settings.precision);
    if (!settings.comment.empty()) json[kComment] = settings.comment;
    json.update(writeLayerFields(layerFields(), settings));
    return json;
}

}  // namespace

FieldType<std::map<std::string, LayerSettings>> layersField() {
    return {[](ObjectReader& reader, std::string_view key, std::map<std::string, LayerSettings>& target) {
                const Json& layers = *reader.find(key);
                const std::string path = reader.pathOf(key);
                if (!layers.is_object())
                    failInput("{}: must be an object of layers by name, not {}", path, describeValue(layers));
                std::map<std::string, LayerSettings> result;
                for (const auto& item : layers.items()) {
                    if (item.key().empty()) failInput("{}: a layer has an empty name", path);
                    result[item.key()] =
                        readLayer(ObjectReader(item.value(), path + "." + item.key(), reader.allKeys()));
                }
                target = std::move(result);
            },
            [](const std::map<std::string, LayerSettings>& layers) {
                OrderedJson json = OrderedJson::object();
                for (const auto& [name, settings] : layers) json[name] = layerJson(settings);
                return json;
            },
            {{"type", "object"},
             {"propertyNames", {{"minLength", 1}}},
             {"additionalProperties", {{"$ref", "#/$defs/layer"}}}}};
}

const std::vector<std::string>& layerKeys() {
    static const std::vector<std::string> kKeys = [] {
        std::set<std::string> keys = {kQuantize, kPrecision, kComment};
        for (const Field& field : layerFields()) {
            const std::string key = field.layerKey();
            keys.insert(key);
            for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
                keys.insert(key.substr(0, dot));
        }
        std::vector<std::string> sorted(keys.begin(), keys.end());
        std::ranges::stable_sort(sorted, std::ranges::greater(), &std::string::size);
        return sorted;
    }();
    return kKeys;
}

}  // namespace quantloupe
