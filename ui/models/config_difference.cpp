// SPDX-License-Identifier: Apache-2.0
#include "models/config_difference.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "commands/config_edits.h"
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

}  // namespace

QStringList configDifference(const QuantizationConfig& before, const QuantizationConfig& after) {
    QStringList lines;
    compareKeys(OrderedJson::parse(configToJson(before)), OrderedJson::parse(configToJson(after)), {}, lines);
    const auto rule = [](const SkipRule& r) { return QString::fromStdString(describe(r)); };
    const auto had = withoutOffRules(before).rules, has = withoutOffRules(after).rules;
    for (const SkipRule& r : has)
        if (std::ranges::count(had, r) == 0) lines << Words::tr("new rule for layers in float: ") + rule(r);
    for (const SkipRule& r : had)
        if (std::ranges::count(has, r) == 0)
            lines << Words::tr("removed rule for layers in float: ") + rule(r);
    const auto precision = [](const PrecisionRule& r) {
        return QStringLiteral("%1: %2").arg(QString::fromStdString(describe(r.covers)),
                                            precisionText(r.precision));
    };
    const auto hadPrecisions = withoutOffRules(before).precisionRules;
    const auto hasPrecisions = withoutOffRules(after).precisionRules;
    const qsizetype others = lines.size();
    for (const PrecisionRule& r : hasPrecisions)
        if (std::ranges::count(hadPrecisions, r) == 0)
            lines << Words::tr("new precision rule: ") + precision(r);
    for (const PrecisionRule& r : hadPrecisions)
        if (std::ranges::count(hasPrecisions, r) == 0)
            lines << Words::tr("removed precision rule: ") + precision(r);
    if (lines.size() == others && hadPrecisions != hasPrecisions)
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
