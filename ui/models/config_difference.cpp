// SPDX-License-Identifier: Apache-2.0
#include "models/config_difference.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "commands/layer_edits.h"
#include "config/config_json.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// Converts a key to words: "weight per channel" for "quantization.weight.per_channel".
QString keyInWords(const std::string& path) {
    QString words = QString::fromStdString(path);
    for (const char* part : {"quantization.", "transforms.", "refine.", "skip.", "parameters."})
        words.remove(QLatin1String(part));
    return words.replace(QLatin1Char('.'), QLatin1Char(' ')).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString valueInWords(const OrderedJson& value) {
    if (value.is_null()) return Words::tr("default");
    if (value.is_boolean()) return value.get<bool>() ? Words::tr("on") : Words::tr("off");
    if (value.is_string())
        return QString::fromStdString(value.get<std::string>()).replace(QLatin1Char('_'), QLatin1Char(' '));
    return QString::fromStdString(value.dump());
}

void compareKeys(const OrderedJson& before, const OrderedJson& after, const std::string& path,
                 QStringList& lines) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : before.items()) keys.push_back(key);
    for (const auto& [key, value] : after.items())
        if (std::ranges::count(keys, key) == 0) keys.push_back(key);
    for (const std::string& key : keys) {
        if (path.empty() && (key == "layers" || key == "quantloupe")) continue;
        const std::string name = path.empty() ? key : path + "." + key;
        if (name == "skip.rules" || name == "precision_rules") continue;
        const OrderedJson a = before.contains(key) ? before[key] : OrderedJson(),
                          b = after.contains(key) ? after[key] : OrderedJson();
        if (a == b) continue;
        if (a.is_object() && b.is_object())
            compareKeys(a, b, name, lines);
        else
            lines
                << QStringLiteral("%1: %2 \u2192 %3").arg(keyInWords(name), valueInWords(a), valueInWords(b));
    }
}

template <typename Rule>
void compareRules(const std::vector<Rule>& before, const std::vector<Rule>& after, const QString& added,
                  const QString& removed, QStringList& lines) {
    for (const Rule& rule : after)
        if (std::ranges::count(before, rule) == 0) lines << added + QString::fromStdString(describe(rule));
    for (const Rule& rule : before)
        if (std::ranges::count(after, rule) == 0) lines << removed + QString::fromStdString(describe(rule));
}

}  // namespace

QStringList configDifference(const QuantizationConfig& before, const QuantizationConfig& after) {
    QStringList lines;
    compareKeys(OrderedJson::parse(configToJson(before)), OrderedJson::parse(configToJson(after)), {}, lines);
    const QuantizationConfig had = withoutOffRules(before), has = withoutOffRules(after);
    compareRules(had.rules, has.rules, Words::tr("new rule for layers in float: "),
                 Words::tr("removed rule for layers in float: "), lines);
    const qsizetype others = lines.size();
    compareRules(had.precisionRules, has.precisionRules, Words::tr("new precision rule: "),
                 Words::tr("removed precision rule: "), lines);
    if (lines.size() == others && had.precisionRules != has.precisionRules)
        lines << Words::tr("precision rules in another order");
    std::set<std::string> names;
    for (const auto* config : {&before, &after})
        for (const auto& [name, settings] : config->layers) names.insert(name);
    for (const std::string& name : names) {
        const auto settingsOf = [&](const QuantizationConfig& config) {
            const LayerSettings* const own = config.settingsOf(name);
            LayerSettings settings = own == nullptr ? LayerSettings{} : *own;
            settings.comment.clear();
            return settings;
        };
        const LayerSettings a = settingsOf(before), b = settingsOf(after);
        if (a == b) continue;
        const auto words = [](const LayerSettings& s) {
            const QString text = describeSettings(s);
            return text.isEmpty() ? Words::tr("network settings") : text;
        };
        lines << QStringLiteral("%1: %2 \u2192 %3").arg(QString::fromStdString(name), words(a), words(b));
    }
    return lines;
}

}  // namespace quantloupe::ui
