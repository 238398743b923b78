// SPDX-License-Identifier: Apache-2.0
// The options that keep layers in float, and those that give layers a precision.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text.h"
#include "config/config_choices.h"
#include "config/layer_choices.h"
#include "options.h"

namespace quantloupe::cli {
namespace {

/// Parses a threshold rule like "local.qs>0.1".
SkipRule parseThreshold(const std::string& value) {
    const std::size_t sign = value.find_first_of("<>");
    const auto metric = choiceNamed(kSkipMetrics, std::string_view(value).substr(0, sign));
    const double threshold = sign == std::string::npos
                                 ? NAN
                                 : parsed<double>(std::string_view(value).substr(sign + 1)).value_or(NAN);
    if (!metric || !std::isfinite(threshold))
        throw UsageError(
            fmt::format("--skip-threshold takes a metric, < or >, and a number, as in 'local.qs>0.1', not "
                        "'{}'; the metrics are: {}",
                        value, fmt::join(choiceNames(kSkipMetrics), ", ")));
    SkipRule rule;
    rule.kind = SkipKind::Threshold;
    rule.metric = *metric;
    rule.threshold = threshold;
    rule.below = value[sign] == '<';
    return rule;
}

}  // namespace

void OptionReader::addSkips() {
    const auto add = [this](SkipRule rule) {
        m_edits.push_back(
            [rule = std::move(rule)](QuantizationConfig& config) { config.rules.push_back(rule); });
    };
    text("--skip", "Keep a layer in float: its NAME, or re:PATTERN", [=, this](const std::string& value) {
        SkipRule rule;
        if (value.starts_with("re:")) {
            rule.kind = SkipKind::Pattern;
            rule.regex = value.substr(3);
        } else {
            rule.layers = {value};
            // An earlier setting of the layer would take precedence over the rule.
            m_edits.push_back([value](QuantizationConfig& config) {
                const auto layer = config.layers.find(value);
                if (layer == config.layers.end()) return;
                layer->second.quantize.reset();
                layer->second.precision.reset();
                if (layer->second.empty()) config.layers.erase(layer);
            });
        }
        add(rule);
    })->type_name("NAME");
    edit("--quantize", "Quantize this layer even if a rule skips it", [](const std::string& name) {
        return [name](QuantizationConfig& config) { setLayerChoice(config, name, true); };
    })->type_name("NAME");
    text("--precision",
         "Give layers a precision (float32, float16, wXaY): NAME=w8a16, re:PATTERN=float16, type:OP=w8a16 "
         "(type:depthwise: all depthwise convolutions), block:NAME=w4a8, downstream:NAME=w8a16",
         [this](const std::string& value) { m_edits.push_back(precisionEdit(value)); })
        ->type_name("NAME=PRECISION");
    text("--skip-until", "Keep all layers on the paths from NAME to each following --to in float",
         [this](const std::string& value) {
             m_until.emplace();
             m_until->kind = SkipKind::Until;
             m_until->from = value;
         })
        ->type_name("NAME");
    // A rule with one string.
    const auto rule = [&](const char* option, const char* type, SkipKind kind, std::string SkipRule::*field,
                          const char* what) {
        text(option, what, [=](const std::string& value) {
            SkipRule made;
            made.kind = kind;
            made.*field = value;
            add(made);
        })->type_name(type);
    };
    rule("--skip-downstream", "NAME", SkipKind::Downstream, &SkipRule::from,
         "Keep NAME and all layers downstream of it in float");
    rule("--skip-type", "OP", SkipKind::Type, &SkipRule::op, "Keep all layers of this operator in float");
    rule("--skip-block", "NAME", SkipKind::Block, &SkipRule::like,
         "Keep a block (the path of a module, or one layer's NAME) and all blocks with the same structure in "
         "float");
    text("--skip-threshold",
         "Keep layers in float whose METRIC is above or below a threshold: 'local.qs>0.1', "
         "'local.cosine<0.99'",
         [add](const std::string& value) { add(parseThreshold(value)); })
        ->type_name("METRIC>N");
    toggle("skip-tail", "Keep the last weighted layers and everything after them in float",
           [](QuantizationConfig& c, bool on) { c.skipTail = c.wholeTail = on; });
}

void OptionReader::closeUntil() {
    if (!m_until) return;
    if (m_until->to.empty()) {
        throw UsageError(
            fmt::format("--skip-until {} needs at least one --to right after it", m_until->from));
    }
    m_edits.push_back([rule = *m_until](QuantizationConfig& config) { config.rules.push_back(rule); });
    m_until.reset();
}

}  // namespace quantloupe::cli
