// SPDX-License-Identifier: Apache-2.0
#include "config/rule_json.h"

#include "base/error.h"
#include "config/config_choices.h"

namespace quantloupe {
namespace {

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
        failInput("{}: a threshold rule needs either above or below, and not both", reader.path());
    rule.below = below != nullptr;
    const Json& value = rule.below ? *below : *above;
    if (!value.is_number())
        failInput("{}: must be a number, not {}", reader.pathOf(rule.below ? "below" : "above"),
                  describeValue(value));
    rule.threshold = value.get<double>();
}

SkipRule readRule(ObjectReader reader) {
    SkipRule rule;
    if (reader.find("kind") == nullptr)
        failInput("{}: is missing; every rule needs a kind", reader.pathOf("kind"));
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

PrecisionRule readPrecisionRule(ObjectReader reader) {
    PrecisionRule rule;
    if (reader.find("precision") == nullptr)
        failInput("{}: is missing; every precision rule needs it", reader.pathOf("precision"));
    precisionField().read(reader, "precision", rule.precision);
    rule.covers = readRule(reader);
    if (rule.covers.kind == SkipKind::Threshold)
        failInput("{}: a precision rule cannot have the kind 'threshold'; name the layers instead",
                  reader.pathOf("kind"));
    return rule;
}

/// A list whose items are read by `read` and written by `write`.
template <typename Rule>
FieldType<std::vector<Rule>> rulesFieldOf(Rule (*read)(ObjectReader), OrderedJson (*write)(const Rule&),
                                          const char* definition) {
    return {[=](ObjectReader& reader, std::string_view key, std::vector<Rule>& target) {
                const Json& rules = *reader.find(key);
                if (!rules.is_array())
                    failInput("{}: must be a list of rules, not {}", reader.pathOf(key),
                              describeValue(rules));
                std::vector<Rule> result;
                for (const Json& rule : rules)
                    result.push_back(read(ObjectReader(
                        rule, fmt::format("{}[{}]", reader.pathOf(key), result.size()), reader.allKeys())));
                target = std::move(result);
            },
            [=](const std::vector<Rule>& rules) {
                OrderedJson json = OrderedJson::array();
                for (const Rule& rule : rules) json.push_back(write(rule));
                return json;
            },
            {{"type", "array"}, {"items", {{"$ref", definition}}}}};
}

OrderedJson metricSchema() { return choiceField(kSkipMetrics).schema; }

/// Returns the schema of one kind of rule; `keys` are required.
OrderedJson kindSchema(const char* kind, const char* description,
                       const std::vector<std::pair<const char*, OrderedJson>>& keys) {
    OrderedJson schema = OrderedJson::object();
    if (*description != '\0') schema["description"] = description;
    schema["additionalProperties"] = false;
    schema["required"] = OrderedJson::array();
    schema["properties"] = {{"kind", {{"const", kind}}}, {"off", {{"$ref", "#/$defs/off"}}}};
    for (const auto& [key, type] : keys) {
        schema["required"].push_back(key);
        schema["properties"][key] = type;
    }
    return schema;
}

}  // namespace

FieldType<std::vector<SkipRule>> rulesField() { return rulesFieldOf(readRule, ruleJson, "#/$defs/rule"); }

FieldType<std::vector<PrecisionRule>> precisionRulesField() {
    const auto write = [](const PrecisionRule& rule) {
        OrderedJson json = ruleJson(rule.covers);
        json["precision"] = precisionName(rule.precision);
        return json;
    };
    FieldType<std::vector<PrecisionRule>> type =
        rulesFieldOf<PrecisionRule>(readPrecisionRule, write, "#/$defs/precisionRule");
    // Without rules, the key is not written, as in files of earlier versions.
    type.write = [list = type.write](const std::vector<PrecisionRule>& rules) {
        return rules.empty() ? OrderedJson() : list(rules);
    };
    return type;
}

OrderedJson ruleSchema() {
    const OrderedJson name = {{"$ref", "#/$defs/name"}}, someNames = {{"$ref", "#/$defs/someNames"}};
    const OrderedJson metric = {{"$ref", "#/$defs/skipMetric"}}, number = {{"type", "number"}};
    const char* const threshold =
        "All quantizable layers whose metric is above (or below) a threshold, evaluated without threshold "
        "rules. weight.* and local.* are evaluated for each layer alone, without any rules.";
    const auto shared = [&](const auto& kind) -> OrderedJson {
        return {kind("node", "", {{"layers", someNames}}),
                kind("until", "All layers on any path from one layer to the others, including both ends.",
                     {{"from", name}, {"to", someNames}}),
                kind("downstream", "A layer and all layers downstream of it.", {{"from", name}}),
                kind("type", "All layers with an operator; depthwise: all depthwise convolutions.",
                     {{"op", name}}),
                kind("pattern",
                     "All layers whose name contains a match of a regular expression (RE2 syntax: no "
                     "backreferences, no look-around).",
                     {{"regex", name}}),
                kind("block",
                     "All layers of a block, given by its scope (/features/features.3) or the name of one "
                     "layer, and of all blocks with the same structure.",
                     {{"like", name}})};
    };
    using Keys = std::vector<std::pair<const char*, OrderedJson>>;
    const auto withPrecision = [](const char* kind, const char* description, Keys keys) {
        keys.emplace_back("precision", precisionField().schema);
        return kindSchema(kind, description, keys);
    };
    OrderedJson skipKinds = shared(kindSchema);
    skipKinds.push_back(kindSchema("threshold", threshold, {{"metric", metric}, {"above", number}}));
    skipKinds.push_back(kindSchema("threshold", "", {{"metric", metric}, {"below", number}}));
    return {{"skipMetric", metricSchema()},
            {"off",
             {{"type", "boolean"},
              {"default", false},
              {"description",
               "Disabled: the rule is kept but has no effect, and it may name layers that are not in the "
               "model."}}},
            {"rule", {{"type", "object"}, {"required", {"kind"}}, {"oneOf", skipKinds}}},
            {"precisionRule",
             {{"type", "object"}, {"required", {"kind", "precision"}}, {"oneOf", shared(withPrecision)}}}};
}

}  // namespace quantloupe
