// SPDX-License-Identifier: Apache-2.0
// docs/config.schema.json is generated from the table of fields, and it agrees with the parser about every
// key, every default and every allowed value.

#include <QtTest>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/atomic_file.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "support/errors.h"

using namespace quantloupe;
using nlohmann::json;
using test::errorOf;

namespace {

/// Returns the error message of reading; empty if the text is accepted.
QString reading(const std::string& text) {
    return errorOf([&] { configFromJson(text); });
}

json schema() {
    return json::parse(
        readFile(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "docs" / "config.schema.json"));
}

/// Validates with the subset of JSON Schema that the schema uses.
class Validator {
  public:
    explicit Validator(json root) : m_root(std::move(root)) {}
    bool valid(const json& value) const { return valid(m_root, value); }
    const json& resolve(const json& rule) const {
        if (!rule.contains("$ref")) return rule;
        return m_root.at(json::json_pointer(rule["$ref"].get<std::string>().substr(1)));
    }

  private:
    static bool hasType(const json& value, const std::string& type) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "null") return value.is_null();
        if (type == "number") return value.is_number();
        if (type == "integer")
            return value.is_number() && value.get<double>() == std::floor(value.get<double>());
        throw std::runtime_error("type " + type + " is not known to the test");
    }
    static std::size_t matches(const json& rules, auto&& test) {
        return static_cast<std::size_t>(std::count_if(rules.begin(), rules.end(), test));
    }
    bool validObject(const json& rule, const json& value) const {
        for (const auto& item : value.items()) {
            if (rule.contains("propertyNames") && !valid(rule["propertyNames"], item.key())) return false;
            if (rule.contains("properties") && rule["properties"].contains(item.key())) {
                if (!valid(rule["properties"][item.key()], item.value())) return false;
            } else if (rule.contains("additionalProperties")) {
                const json& other = rule["additionalProperties"];
                if (other.is_boolean() ? !other.get<bool>() : !valid(other, item.value())) return false;
            }
        }
        for (const json& name : rule.value("required", json::array()))
            if (!value.contains(name.get<std::string>())) return false;
        return value.size() <= rule.value("maxProperties", value.size());
    }
    bool valid(const json& rule, const json& value) const {
        const auto test = [&](const json& part) { return valid(part, value); };
        if (rule.contains("$ref") && !valid(resolve(rule), value)) return false;
        if (rule.contains("const") && rule["const"] != value) return false;
        if (rule.contains("enum") &&
            matches(rule["enum"], [&](const json& one) { return one == value; }) == 0)
            return false;
        if (rule.contains("anyOf") && matches(rule["anyOf"], test) == 0) return false;
        if (rule.contains("oneOf") && matches(rule["oneOf"], test) != 1) return false;
        if (rule.contains("type")) {
            const json types = rule["type"].is_array() ? rule["type"] : json::array({rule["type"]});
            if (matches(types, [&](const json& t) { return hasType(value, t.get<std::string>()); }) == 0)
                return false;
        }
        if (value.is_number() && value.get<double>() < rule.value("minimum", -1e300)) return false;
        if (value.is_number() && value.get<double>() > rule.value("maximum", 1e300)) return false;
        if (value.is_number() && value.get<double>() <= rule.value("exclusiveMinimum", -1e300)) return false;
        if (value.is_array() && value.size() > rule.value("maxItems", value.size())) return false;
        if (value.is_string() && value.get<std::string>().size() < rule.value("minLength", 0u)) return false;
        if (value.is_string() && rule.contains("pattern") &&
            !std::regex_search(value.get<std::string>(), std::regex(rule["pattern"].get<std::string>())))
            return false;
        if (value.is_array() && value.size() < rule.value("minItems", 0u)) return false;
        if (value.is_array() && rule.contains("items"))
            for (const json& item : value)
                if (!valid(rule["items"], item)) return false;
        return !value.is_object() || validObject(rule, value);
    }
    json m_root;
};

void collectKeys(const json& value, const std::string& path, std::set<std::string>& keys) {
    for (const auto& item : value.items()) {
        const std::string name = path + "/" + item.key();
        keys.insert(name);
        if (item.value().is_object()) collectKeys(item.value(), name, keys);
    }
}

void collectSchemaKeys(const Validator& validator, const json& rule, const std::string& path,
                       std::map<std::string, json>& keys) {
    const json& here = validator.resolve(rule);
    if (!here.contains("properties")) return;
    for (const auto& item : here["properties"].items()) {
        const std::string name = path + "/" + item.key();
        keys[name] = item.value();
        collectSchemaKeys(validator, item.value(), name, keys);
    }
}

/// {"a": {"b": value}} of "/a/b".
json nested(const std::string& pointer, const json& value) {
    json document = json::object();
    document[json::json_pointer(pointer)] = value;
    return document;
}

}  // namespace

class ConfigSchemaTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// QUANTLOUPE_UPDATE=1 writes the file.
    void schemaFileIsGenerated() {
        const auto file = std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "docs" / "config.schema.json";
        const std::string text = configSchema().dump(2) + "\n";
        if (qEnvironmentVariableIsSet("QUANTLOUPE_UPDATE")) writeFileAtomically(file, text);
        QVERIFY2(readFile(file) == text, "run this test with QUANTLOUPE_UPDATE=1 and look at the changes");
    }

    void schemaHasEveryKey() {
        const Validator validator(schema());
        std::map<std::string, json> described;
        collectSchemaKeys(validator, schema(), "", described);
        std::set<std::string> written;
        collectKeys(json::parse(configToJson(QuantizationConfig{})), "", written);
        for (const std::string& key : written) QVERIFY2(described.contains(key), key.c_str());
        // Only calibration parameters that were set and a list of precision rules that is not empty are
        // written.
        const std::string parameters = "/calibration/parameters/";
        for (const auto& [key, rule] : described)
            QVERIFY2(written.contains(key) || key.starts_with(parameters) || key == "/precision_rules",
                     key.c_str());

        std::map<std::string, json> ofLayer;
        collectSchemaKeys(validator, json{{"$ref", "#/$defs/layer"}}, "/layers/Conv_1", ofLayer);
        QCOMPARE(ofLayer.size(), std::size_t(30));
        described.merge(ofLayer);
        for (const auto& [key, rule] : described) {
            // A value that no key accepts: if the key were unknown, the message would say so.
            const QString message = reading(nested(key, json::array({1})).dump());
            QVERIFY2(!message.isEmpty() && !message.contains("unknown key"), qPrintable(message));
            if (rule.contains("default")) QCOMPARE(reading(nested(key, rule["default"]).dump()), QString());
            if (rule.contains("enum"))
                for (const json& value : rule["enum"])
                    QCOMPARE(reading(nested(key, value).dump()), QString());
        }
    }

    void schemaDefaultsAreTheDefaults() {
        const Validator validator(schema());
        std::map<std::string, json> described;
        collectSchemaKeys(validator, schema(), "", described);
        const json written = json::parse(configToJson(QuantizationConfig{}));
        for (const auto& [key, rule] : described)
            if (rule.contains("default"))
                QVERIFY2(written.value(json::json_pointer(key), json("missing")) == rule["default"],
                         key.c_str());
        json names = json::array();
        for (const PresetInfo& preset : presets()) names.push_back(preset.name);
        QCOMPARE(schema()["properties"]["preset"]["enum"].dump(), names.dump());
    }

    /// Each value at each place: schema and parser must agree whether it is allowed.
    void schemaAgreesWithParser() {
        const Validator validator(schema());
        std::map<std::string, json> places;
        collectSchemaKeys(validator, schema(), "", places);
        collectSchemaKeys(validator, json{{"$ref", "#/$defs/layer"}}, "/layers/Conv_1", places);
        places["/skip/rules/0"] = places["/transforms/skip_folding/0"] = places["/unknown"] = {};
        places["/transforms/equalization/off/0"] = {};
        const json values =
            json::parse(R"([null, true, false, 0, 1, 2, 8, 9, 32, 100, 101, -1, 0.5, 2e-7, 2.5, 1000001, "",
            "off", "aimet", "quark", "none", "between", "all", "min_max", "ifmr", "arq", "mse", "float", "most_common", 16, 17, 1024, 1025, 0.6, 0.99, [0.7, 1.3], [0, 1], [0.1], "nearest", "default", "w4a8",
            "inputs_and_outputs", [], ["a"], [["a"]], [[]], [1], {}, {"a": 1}, {"a": {}}, {"": {}},
            [{"kind": "node", "layers": ["a"]}], {"kind": "node", "layers": []}, {"kind": "node"},
            {"kind": "until", "from": "a", "to": ["b"]}, {"kind": "until", "from": "", "to": ["b"]},
            {"kind": "downstream", "from": "a"}, {"kind": "downstream", "from": "a", "to": ["b"]}, {"kind": "type", "op": "Add"},
            {"kind": "pattern", "regex": "x"}, {"kind": "tail"}, {"bits": 4}, {"weight": {"bits": 1}}])");
        int accepted = 0, refused = 0;
        for (const auto& [place, rule] : places)
            for (const json& value : values) {
                json document = json::parse(configToJson(QuantizationConfig{}));
                document[json::json_pointer(place)] = value;
                const QString message = reading(document.dump());
                const std::string what = place + " = " + value.dump() + ": " + message.toStdString();
                QVERIFY2(validator.valid(document) == message.isEmpty(), what.c_str());
                ++(message.isEmpty() ? accepted : refused);
            }
        QVERIFY(accepted > 60 && refused > 1000);
        for (const PresetInfo& preset : presets())
            QVERIFY(validator.valid(json::parse(configToJson(presetConfig(preset.name)))));
    }
};

QTEST_GUILESS_MAIN(ConfigSchemaTest)
#include "config_schema_test.moc"
