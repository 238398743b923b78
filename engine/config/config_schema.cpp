// SPDX-License-Identifier: Apache-2.0
#include "config/config_choices.h"
#include "config/config_fields.h"
#include "config/layer_json.h"
#include "config/presets.h"
#include "config/rule_json.h"

namespace quantloupe {
namespace {

OrderedJson objectSchema(const std::string& description) {
    OrderedJson schema = {{"type", "object"}, {"additionalProperties", false}};
    if (!description.empty()) schema["description"] = description;
    schema["properties"] = OrderedJson::object();
    return schema;
}

std::string groupHelp(const FieldTable& table, const std::string& key) {
    for (const FieldGroup& group : table.groups)
        if (group.key == key) return group.help;
    return {};
}

/// Returns the schema of the innermost object of a dotted key, adding the objects that are missing, and
/// reduces `key` to its last part. `help` returns the help text of a group.
OrderedJson& parentOf(OrderedJson& root, std::string& key, const auto& help) {
    OrderedJson* here = &root;
    std::string path;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.')) {
        const std::string part = key.substr(0, dot);
        key.erase(0, dot + 1);
        path += (path.empty() ? "" : ".") + part;
        OrderedJson& properties = (*here)["properties"];
        if (!properties.contains(part)) properties[part] = objectSchema(help(path));
        here = &properties[part];
    }
    return *here;
}

}  // namespace

OrderedJson layerSchema() {
    OrderedJson schema = objectSchema({});
    schema["properties"]["quantize"] = {
        {"type", {"boolean", "null"}},
        {"description",
         "true: always quantized; false: always in float; null or missing: decided by the rules."}};
    OrderedJson precision = optionalField(precisionField()).schema;
    precision["description"] =
        "float32: in float; float16: rounded to half precision; wXaY: quantized to X bits for weights and Y "
        "bits for inputs and outputs. Takes precedence over weight.bits and activation.bits.";
    schema["properties"]["precision"] = std::move(precision);
    schema["properties"]["comment"] = {{"type", "string"}, {"default", ""}};
    const auto help = [](const std::string& path) {
        return path == "calibration" ? "Calibration of the layer's output (with placement weighted_inputs: "
                                       "of its input); missing keys use the network's values."
               : path == "activation"
                   ? "Scheme of the layer's output (with placement weighted_inputs: of its input)."
                   : "";
    };
    for (const Field& field : layerFields()) {
        std::string key = field.layerKey();
        OrderedJson& parent = parentOf(schema, key, help);
        const bool optional = field.schema.contains("anyOf");
        parent["properties"][key] =
            optional ? field.schema : OrderedJson{{"anyOf", {field.schema, {{"type", "null"}}}}};
    }
    return schema;
}

OrderedJson configSchema(const FieldTable& table) {
    OrderedJson schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                          {"$id", "urn:quantloupe:config:1"},
                          {"title", "Quantloupe configuration"}};
    schema.update(
        objectSchema("All settings for the quantization of a model. Every key is optional when a file is "
                     "read; all keys are written."));
    OrderedJson& properties = schema["properties"];
    properties["quantloupe"] = {
        {"const", kConfigFormat}, {"default", kConfigFormat}, {"description", "Version of the file format."}};
    OrderedJson names = OrderedJson::array();
    for (const PresetInfo& preset : presets()) names.push_back(preset.name);
    const QuantizationConfig standard;
    properties["preset"] = {{"enum", names},
                            {"default", standard.preset},
                            {"description", "Starting point, applied before all other keys."}};
    const auto help = [&](const std::string& path) { return groupHelp(table, path); };
    for (const Field& field : table.fields) {
        std::string key = field.key;
        OrderedJson& parent = parentOf(schema, key, help);
        OrderedJson described = field.schema;
        if (const OrderedJson value = field.write(standard); !value.is_null())
            described["default"] = value;
        else if (&parent != &schema)
            parent["default"] = OrderedJson::object();
        described["description"] = field.help;
        parent["properties"][key] = std::move(described);
    }
    schema["$defs"] = {{"name", {{"type", "string"}, {"minLength", 1}}},
                       {"someNames", {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}};
    schema["$defs"].update(ruleSchema());
    schema["$defs"]["layer"] = layerSchema();
    return schema;
}

}  // namespace quantloupe
