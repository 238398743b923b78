// SPDX-License-Identifier: Apache-2.0
// Imports CLIKA's settings from Python calls or from the YAML of 24.x. Layer names can be ONNX's or CLIKA's.
// The script is not executed.

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "config/skip_rules.h"
#include "interchange/clika/clika_names.h"
#include "interchange/text/python_source.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

using Kind = PythonValue::Kind;

/// The settings of one layer, from either notation; `line` counts from 1.
struct LayerCall : ClikaLayer {
    int line = 0;
    std::string layer;
};

class ClikaReader {
  public:
    explicit ClikaReader(const ImportSource& source) : m_source(source), m_names(*source.graph) {
        m_result.config = source.start;
        forgetLayers(m_result.config);
        m_result.config.skipTail = m_result.config.wholeTail = true;  // CLIKA's default
    }

    ImportResult read() {
        static constexpr std::string_view kWords[] = {"clika_compression", "LayerQuantizationSettings",
                                                      "set_quantization_settings_for_layer"};
        bool python = false;
        for (const std::string_view word : kWords)
            python = python || m_source.text.find(word) != std::string::npos;
        if (python)
            readPython();
        else
            readYaml();
        automaticSkip();
        takeSkips(m_single, m_result);
        return std::move(m_result);
    }

  private:
    std::optional<std::string> layer(const std::string& name, int line) {
        if (const auto node = m_names.find(m_source.layerName(name))) return m_source.graph->node(*node).name;
        m_result.leave(unknownLayer({name, m_names.near(name)}).addContext(fmt::format("line {}", line)));
        return std::nullopt;
    }

    /// Both keys together form one rule; one of them alone skips nothing.
    void automaticSkip() {
        if (m_automatic && m_sensitivity) {
            SkipRule rule;
            rule.kind = SkipKind::Threshold;
            rule.metric = SkipMetric::LocalAbsoluteL2;
            rule.threshold = *m_sensitivity;
            m_result.config.rules.push_back(rule);
            m_result.taken.push_back(fmt::format(
                "automatic_skip_quantization: layers with local.absolute_l2 above {:g} stay in float",
                *m_sensitivity));
        } else if (m_automatic) {
            m_result.left.push_back(fmt::format(
                "line {}: automatic_skip_quantization needs quantization_sensitivity_threshold, a number",
                m_automaticLine));
        } else if (m_sensitivity) {
            m_result.left.push_back(fmt::format(
                "quantization_sensitivity_threshold {:g} has no effect without automatic_skip_quantization",
                *m_sensitivity));
        }
    }

    void apply(const LayerCall& call) {
        const auto from = layer(call.layer, call.line);
        if (!from) return;
        auto& config = m_result.config;
        if (call.weightBits) config.layers[*from].weightBits = call.weightBits;
        if (call.activationBits) config.layers[*from].activationBits = call.activationBits;
        if (call.weightBits || call.activationBits)
            m_result.taken.push_back(fmt::format("bits of {}", *from));
        if (call.skip && !*call.skip) {
            config.layers[*from].quantize = true;
            m_result.taken.push_back(*from + " is quantized");
        }
        if (!call.skip.value_or(false)) {
            if (!call.until.empty() || call.downstream)
                m_result.left.push_back(
                    fmt::format("line {}: '{}': without skip_quantization=True the rule has no effect",
                                call.line, call.layer));
            return;
        }
        if (call.until.empty() && !call.downstream) return m_single.push_back(*from);
        if (call.downstream) {
            SkipRule rule;
            rule.kind = SkipKind::Downstream;
            rule.from = *from;
            config.rules.push_back(rule);
            m_result.taken.push_back(fmt::format("{} and all layers downstream of it stay in float", *from));
        }
        if (call.until.empty()) return;
        SkipRule rule;
        rule.kind = SkipKind::Until;
        rule.from = *from;
        for (const std::string& name : call.until)
            if (const auto to = layer(name, call.line)) rule.to.push_back(*to);
        if (rule.to.empty()) return;
        m_result.taken.push_back(fmt::format("from {} until {} stays in float", *from, shortList(rule.to)));
        config.rules.push_back(std::move(rule));
    }

    void global(int line, const std::string& key, const std::optional<bool>& truth,
                const std::optional<double>& number, bool null) {
        auto& config = m_result.config;
        const auto bits = [&](int& target) {
            if (!number || (*number != 8 && *number != 4)) failInput("line {}: {} must be 8 or 4", line, key);
            target = static_cast<int>(*number);
            m_result.taken.push_back(fmt::format("{}: {}", key, target));
        };
        if (key == "skip_tail_quantization") {
            if (null) return;
            if (!truth) failInput("line {}: {} must be true or false", line, key);
            config.skipTail = *truth;
            m_result.taken.push_back(*truth ? "the tail stays in float" : "the tail is quantized");
        } else if (key == "weights_num_bits")
            bits(config.quantization.weight.bits);
        else if (key == "activations_num_bits")
            bits(config.quantization.activation.bits);
        else if (key == "automatic_skip_quantization") {
            if (!null && !truth) failInput("line {}: {} must be true or false", line, key);
            m_automatic = truth.value_or(false);
            m_automaticLine = line;
        } else if (key == "quantization_sensitivity_threshold") {
            if (null) return;
            if (!number || !(*number >= 0) || !std::isfinite(*number))
                failInput("line {}: {} must be a non-negative number or null", line, key);
            m_sensitivity = *number;
        } else if (!null && key != "method")
            m_result.left.push_back(fmt::format("line {}: {} has no counterpart here", line, key));
    }

    // Python

    void readPython() {
        const PythonSource script = parsePython(m_source.text);
        std::size_t calls = 0;
        for (const PythonStatement& statement : script.statements) {
            const std::size_t dot = statement.target.rfind('.');
            if (dot != std::string::npos &&
                statement.target.find("global_quantization_settings") != std::string::npos &&
                dot > statement.target.find("global_quantization_settings")) {
                const PythonValue& v = script.resolved(statement.value);
                ++calls;
                global(statement.line, statement.target.substr(dot + 1),
                       v.kind == Kind::Bool ? std::optional(v.truth) : std::nullopt,
                       v.kind == Kind::Number ? std::optional(v.number) : std::nullopt, v.kind == Kind::None);
                continue;
            }
            if (statement.value.kind != Kind::Call ||
                !statement.value.text.ends_with("set_quantization_settings_for_layer"))
                continue;
            ++calls;
            apply(pythonCall(script, statement));
        }
        for (const int line : script.unread)
            m_result.left.push_back(
                fmt::format("line {}: ignored, because it is not a plain call or assignment", line));
        if (calls == 0)
            failInput(
                "no call of set_quantization_settings_for_layer: expected a script for CLIKA's settings, or "
                "its YAML");
    }

    LayerCall pythonCall(const PythonSource& script, const PythonStatement& statement) {
        const PythonValue& call = statement.value;
        const auto argument = [&](std::size_t index, std::string_view key) {
            const PythonValue* value = index < call.items.size() ? &call.items[index] : call.keyword(key);
            return value == nullptr ? nullptr : &script.resolved(*value);
        };
        const PythonValue* name = argument(0, "layer_name");
        const PythonValue* settings = argument(1, "layer_quantization_settings");
        if (settings == nullptr) settings = argument(1, "settings");
        if (name == nullptr || name->kind != Kind::Text)
            failInput("line {}: the first argument must be the layer's name as a string", statement.line);
        if (settings == nullptr || settings->kind != Kind::Call ||
            !settings->text.ends_with("LayerQuantizationSettings"))
            failInput("line {}: the second argument must be LayerQuantizationSettings(...)", statement.line);
        LayerCall result;
        result.line = statement.line;
        result.layer = name->text;
        for (const auto& [option, given] : settings->named) {
            const std::string& key = option;  // Clang 14 cannot use a structured binding in a lambda
            const PythonValue& value = script.resolved(given);
            const auto truth = [&]() {
                if (value.kind != Kind::Bool)
                    failInput("line {}: {} must be True or False, not {}", value.line, key,
                              kindName(value.kind));
                return value.truth;
            };
            const auto bits = [&]() {
                if (value.kind != Kind::Number || (value.number != 8 && value.number != 4))
                    failInput("line {}: {} must be 8 or 4", value.line, key);
                return static_cast<int>(value.number);
            };
            if (value.kind == Kind::None) continue;
            if (key == "skip_quantization")
                result.skip = truth();
            else if (key == "skip_quantization_downstream")
                result.downstream = truth();
            else if (key == "skip_quantization_until") {
                if (value.kind == Kind::Text)
                    result.until = {value.text};
                else if (value.isTexts())
                    result.until = value.texts();
                else
                    failInput("line {}: {} must be a list of layer names, not {}", value.line, key,
                              kindName(value.kind));
            } else if (key == "weights_num_bits")
                result.weightBits = bits();
            else if (key == "activations_num_bits")
                result.activationBits = bits();
            else
                m_result.left.push_back(fmt::format("line {}: {} has no counterpart here", value.line, key));
        }
        return result;
    }

    // YAML

    static int lineOf(const YAML::Node& node) { return node.Mark().line + 1; }

    /// Returns the entries of a mapping. Throws for duplicate keys and for anything but a mapping.
    static std::vector<std::pair<std::string, YAML::Node>> entries(const YAML::Node& node,
                                                                   const std::string& path) {
        if (!node.IsMap()) failInput("line {}: {} must be a mapping of keys to values", lineOf(node), path);
        std::vector<std::pair<std::string, YAML::Node>> list;
        std::set<std::string> seen;
        for (const auto& item : node) {
            if (!item.first.IsScalar())
                failInput("line {}: a key of {} must be a plain string", lineOf(item.first), path);
            const std::string key = item.first.Scalar();
            if (!seen.insert(key).second)
                failInput("line {}: duplicate key '{}'; remove one", lineOf(item.first), key);
            list.emplace_back(key, item.second);
        }
        return list;
    }
    static std::optional<bool> truthOf(const YAML::Node& node) {
        bool value = false;
        return node.IsScalar() && YAML::convert<bool>::decode(node, value) ? std::optional(value)
                                                                           : std::nullopt;
    }
    static std::optional<double> numberOf(const YAML::Node& node) {
        double value = 0;
        return node.IsScalar() && YAML::convert<double>::decode(node, value) ? std::optional(value)
                                                                             : std::nullopt;
    }

    void readYaml() {
        YAML::Node root;
        try {
            root = YAML::Load(m_source.text);
        } catch (const YAML::Exception& error) {
            failInput("line {}: this is not valid YAML: {}", error.mark.line + 1, error.msg);
        }
        if (!root.IsMap() || (!root["global_quantization_settings"] && !root["layer_settings"]))
            failInput(
                "neither global_quantization_settings nor layer_settings: expected CLIKA's YAML of 24.x, or "
                "a Python script that uses clika_compression");
        for (const auto& [key, value] : entries(root, "the document")) {
            if (key == "global_quantization_settings") {
                if (value.IsNull()) continue;
                for (const auto& [name, item] : entries(value, key))
                    global(lineOf(item), name, truthOf(item), numberOf(item), item.IsNull());
            } else if (key == "layer_settings") {
                if (value.IsNull()) continue;
                for (const auto& [name, item] : entries(value, key)) yamlLayer(name, item);
            } else {
                m_result.left.push_back(
                    fmt::format("line {}: {} has no counterpart here", lineOf(value), key));
            }
        }
    }

    void yamlLayer(const std::string& name, const YAML::Node& node) {
        LayerCall call;
        call.line = lineOf(node);
        call.layer = name;
        if (node.IsNull()) return;
        for (const auto& [section, settings] : entries(node, name)) {
            if (section != "quantization_settings") {
                m_result.left.push_back(
                    fmt::format("line {}: {}.{} has no counterpart here", lineOf(settings), name, section));
                continue;
            }
            if (settings.IsNull()) continue;
            for (const auto& [key, value] : entries(settings, name + "." + section)) {
                const auto truth = [&, &key = key, &value = value]() {
                    const auto t = truthOf(value);
                    if (!t) failInput("line {}: {} must be true or false", lineOf(value), key);
                    return *t;
                };
                const auto bits = [&, &key = key, &value = value]() {
                    const auto n = numberOf(value);
                    if (!n || (*n != 8 && *n != 4))
                        failInput("line {}: {} must be 8 or 4", lineOf(value), key);
                    return static_cast<int>(*n);
                };
                if (value.IsNull()) continue;
                if (key == "skip_quantization")
                    call.skip = truth();
                else if (key == "skip_quantization_downstream")
                    call.downstream = truth();
                else if (key == "skip_quantization_until") {
                    if (value.IsScalar())
                        call.until = {value.Scalar()};
                    else if (value.IsSequence()) {
                        for (const auto& item : value) {
                            if (!item.IsScalar())
                                failInput("line {}: {} must be a list of layer names", lineOf(item), key);
                            call.until.push_back(item.Scalar());
                        }
                    } else
                        failInput("line {}: {} must be a list of layer names", lineOf(value), key);
                } else if (key == "weights_num_bits")
                    call.weightBits = bits();
                else if (key == "activations_num_bits")
                    call.activationBits = bits();
                else
                    m_result.left.push_back(
                        fmt::format("line {}: {}.{} has no counterpart here", lineOf(value), name, key));
            }
        }
        apply(call);
    }

    const ImportSource& m_source;
    ClikaNames m_names;
    ImportResult m_result;
    std::vector<std::string> m_single;
    bool m_automatic = false;
    int m_automaticLine = 0;
    std::optional<double> m_sensitivity;
};

}  // namespace

ImportResult readClika(const ImportSource& source) { return ClikaReader(source).read(); }

}  // namespace quantloupe
