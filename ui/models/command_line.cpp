// SPDX-License-Identifier: Apache-2.0
#include "models/command_line.h"

#include <algorithm>

#include "base/json.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "style/path_text.h"

namespace quantloupe::ui {

QString shellQuoted(QString text) {
    static const QString safe =
        QStringLiteral("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=:,+@%");
    const bool plain = !text.isEmpty() && std::ranges::all_of(text, [](QChar c) { return safe.contains(c); });
    return plain ? text
                 : QLatin1Char('\'') + text.replace(QLatin1Char('\''), QLatin1String("'\\''")) +
                       QLatin1Char('\'');
}

namespace {

/// Keys below `path` whose values differ, as KEY=JSON. A list and all settings of a layer are one value.
void collect(const OrderedJson& now, const OrderedJson& standard, const std::string& path,
             QStringList& settings) {
    for (const auto& [key, value] : now.items()) {
        const std::string name = path.empty() ? key : path + "." + key;
        const OrderedJson before = standard.contains(key) ? standard[key] : OrderedJson();
        if (value == before) continue;
        if (value.is_object() && path != "layers")
            collect(value, before.is_object() ? before : OrderedJson::object(), name, settings);
        else
            settings << QString::fromStdString(name + "=" + value.dump());
    }
}

QStringList taskWords(const TaskSettings& task) {
    QStringList words;
    const auto add = [&words](const char* option, const QString& value) {
        words << QLatin1String(option) << value;
    };
    if (!task.labels.empty()) add("--labels", pathText(task.labels));
    if (!task.classNames.empty()) add("--class-names", pathText(task.classNames));
    const auto nameOf = [](const auto& names, auto value) {
        return viewText(names[static_cast<std::size_t>(value)]);
    };
    // Without a label file, the data itself determines the task, unless the task was chosen.
    if (task.task == Task::Regression || task.task == Task::Tokens ||
        (!task.labels.empty() && task.task != Task::Automatic))
        add("--task", nameOf(kTaskNames, task.task));
    if (!task.decoder.empty()) add("--decoder", QString::fromStdString(task.decoder));
    if (!task.classOutput.empty()) add("--class-output", QString::fromStdString(task.classOutput));
    if (task.categories != CategoryIndex::Automatic)
        add("--category-index", nameOf(kCategoryIndexNames, task.categories));
    return words;
}

/// `evaluates`: the command reads evaluation data and labels, not calibration data alone.
QStringList dataWords(const Document& document, bool evaluates) {
    const auto& data = document.data();
    if (!data || data->evaluationPath.empty()) return {};
    QStringList words;
    if (evaluates)
        words = QStringList{QStringLiteral("--data"), pathText(data->evaluationPath)} + taskWords(data->task);
    if (!evaluates || !data->calibrationPath.empty())
        words << QStringLiteral("--calibration-data")
              << pathText(data->calibrationPath.empty() ? data->evaluationPath : data->calibrationPath);
    if (document.hasOwnPreprocess()) {
        const std::string json = OrderedJson::parse(preprocessToJson(data->preprocess)).dump();
        words << QStringLiteral("--preprocess") << QString::fromStdString(json);
    }
    return words;
}

QStringList configWords(const QuantizationConfig& config) {
    QStringList words{QStringLiteral("--preset"), QString::fromStdString(config.preset)}, settings;
    collect(OrderedJson::parse(configToJson(config)),
            OrderedJson::parse(configToJson(presetConfig(config.preset))), {}, settings);
    for (const QString& setting : settings) words << QStringLiteral("--set") << setting;
    return words;
}

QString joined(const QStringList& words) {
    QStringList result{QStringLiteral("quantloupe-cli")};
    for (const QString& word : words) result << shellQuoted(word);
    return result.join(QLatin1Char(' '));
}

}  // namespace

QString analyzeCommand(const Document& document, const QuantizationConfig& config) {
    QStringList metric;  // the command passes no arguments
    if (const auto& program = document.metricProgram(); program && program->arguments.empty())
        metric = {QStringLiteral("--metric-program"), pathText(program->program)};
    return joined(QStringList{QStringLiteral("analyze"), pathText(document.model()->path)} +
                  dataWords(document, true) + metric + configWords(config));
}

QString outputCommand(const Document& document, const QString& command, const QStringList& options) {
    return joined(QStringList{command, pathText(document.model()->path)} + options +
                  dataWords(document, command != QLatin1String("transform")) +
                  configWords(document.config()));
}

}  // namespace quantloupe::ui
