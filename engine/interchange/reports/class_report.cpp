// SPDX-License-Identifier: Apache-2.0
#include "interchange/reports/class_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/class_results.h"
#include "analysis/task_metrics.h"
#include "picture/picture_text.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMostInMatrix = 30;
constexpr std::size_t kMostListed = 10;

std::string htmlTable(const ClassResults& results) {
    std::string text = fmt::format(
        "<div class=\"scroll\">\n<table>\n<tr><th>class</th><th>{}</th><th>{}, float</th><th>quantized</th>"
        "<th>points</th></tr>\n",
        traitsOf(results.unit).title, traitsOf(results.unit).metricTitle);
    for (const ClassResult& result : results.classes)
        text += fmt::format(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f} %</td><td class=\"n\">{:.2f} "
            "%</td><td "
            "class=\"n\">{:+.2f}</td></tr>\n",
            escapedXml(result.name), result.labels, 100 * result.floating, 100 * result.quantized,
            100 * result.change());
    return text + "</table>\n</div>\n";
}

/// Cells show the number of samples for the quantized network and, if it differs, for the float network in
/// parentheses.
std::string htmlMatrix(const Evaluation& evaluation, const std::vector<ConfusionCell>& cells) {
    std::map<std::int32_t, std::map<std::int32_t, const ConfusionCell*>> rows;
    std::map<std::int32_t, bool> columns;
    for (const ConfusionCell& cell : cells) {
        rows[cell.label][cell.predicted] = &cell;
        columns[cell.predicted] = true;
    }
    std::string text =
        "<p>Confusion matrix: samples by label (rows) and predicted class (columns), quantized; in "
        "parentheses "
        "in float where it differs.</p>\n<div class=\"scroll\">\n<table>\n<tr><th></th>";
    for (const auto& [column, used] : columns)
        text += "<th>" + escapedXml(classNameOf(evaluation, column)) + "</th>";
    text += "</tr>\n";
    for (const auto& [label, row] : rows) {
        text += "<tr><th>" + escapedXml(classNameOf(evaluation, label)) + "</th>";
        for (const auto& [column, used] : columns) {
            const auto found = row.find(column);
            const std::size_t before = found == row.end() ? 0 : found->second->floating.size();
            const std::size_t after = found == row.end() ? 0 : found->second->quantized.size();
            const char* style = label == column && after > 0 ? " quantized"
                                : after > before             ? " skipped"
                                                             : "";
            text += fmt::format("<td class=\"n{}\">{}{}</td>", style,
                                after == 0 && before == 0 ? "" : std::to_string(after),
                                before == after ? "" : fmt::format(" ({})", before));
        }
        text += "</tr>\n";
    }
    return text + "</table>\n</div>\n";
}

/// The confusions that quantization adds, the most frequent first.
std::vector<const ConfusionCell*> newConfusions(const std::vector<ConfusionCell>& cells) {
    std::vector<const ConfusionCell*> added;
    for (const ConfusionCell& cell : cells)
        if (cell.label != cell.predicted && cell.quantized.size() > cell.floating.size())
            added.push_back(&cell);
    std::stable_sort(added.begin(), added.end(), [](const auto* a, const auto* b) {
        return a->quantized.size() - a->floating.size() > b->quantized.size() - b->floating.size();
    });
    if (added.size() > kMostListed) added.resize(kMostListed);
    return added;
}

/// Escapes vertical bars, which would end a cell.
std::string markdownCell(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (c == '|' || c == '\\') text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

}  // namespace

OrderedJson classesJson(const Evaluation& evaluation) {
    OrderedJson json = OrderedJson::object();
    const ClassResults results = classResults(evaluation);
    if (results.classes.empty()) return json;
    json["class_metric"] = traitsOf(results.unit).metric;
    json["classes"] = OrderedJson::array();
    for (const ClassResult& result : results.classes)
        json["classes"].push_back({{"index", result.index},
                                   {"name", result.name},
                                   {"labels", result.labels},
                                   {"float", result.floating},
                                   {"quantized", result.quantized}});
    const std::vector<ConfusionCell> cells = confusionCells(evaluation);
    if (cells.empty()) return json;
    json["confusion"] = OrderedJson::array();
    for (const ConfusionCell& cell : cells)
        json["confusion"].push_back(
            {{"label", cell.label},
             {"predicted", cell.predicted == kNoClass ? OrderedJson() : OrderedJson(cell.predicted)},
             {"float", cell.floating.size()},
             {"quantized", cell.quantized.size()}});
    return json;
}

std::string classesHtml(const Evaluation& evaluation) {
    const ClassResults results = classResults(evaluation);
    if (results.classes.empty()) return {};
    std::string text = "<h2>Classes</h2>\n" + htmlTable(results);
    const std::vector<ConfusionCell> cells = confusionCells(evaluation);
    if (cells.empty()) return text;
    if (results.classes.size() <= kMostInMatrix) return text + htmlMatrix(evaluation, cells);
    const auto added = newConfusions(cells);
    if (added.empty()) return text;
    text += "<p>Confusions that quantization adds:</p>\n<ul>\n";
    for (const ConfusionCell* cell : added)
        text += fmt::format("<li>{} as {}: {} samples, {} in float</li>\n",
                            escapedXml(classNameOf(evaluation, cell->label)),
                            escapedXml(classNameOf(evaluation, cell->predicted)), cell->quantized.size(),
                            cell->floating.size());
    return text + "</ul>\n";
}

std::string classesMarkdown(const Evaluation& evaluation) {
    ClassResults results = classResults(evaluation);
    if (results.classes.empty()) return {};
    std::stable_sort(results.classes.begin(), results.classes.end(),
                     [](const ClassResult& a, const ClassResult& b) { return a.change() < b.change(); });
    if (results.classes.size() > kMostListed) results.classes.resize(kMostListed);
    std::string text = fmt::format(
        "\n#### Classes, largest loss first\n\n"
        "| class | {} | {}, float | quantized | points |\n|---|---|---|---|---|\n",
        traitsOf(results.unit).title, traitsOf(results.unit).metricTitle);
    for (const ClassResult& result : results.classes)
        text +=
            fmt::format("| {} | {} | {:.2f} % | {:.2f} % | {:+.2f} |\n", markdownCell(result.name),
                        result.labels, 100 * result.floating, 100 * result.quantized, 100 * result.change());
    const std::vector<ConfusionCell> cells = confusionCells(evaluation);
    const auto added = newConfusions(cells);
    if (added.empty()) return text;
    text += "\n| label | predicted as | float | quantized |\n|---|---|---|---|\n";
    for (const ConfusionCell* cell : added)
        text += fmt::format("| {} | {} | {} | {} |\n", markdownCell(classNameOf(evaluation, cell->label)),
                            markdownCell(classNameOf(evaluation, cell->predicted)), cell->floating.size(),
                            cell->quantized.size());
    return text;
}

}  // namespace quantloupe
