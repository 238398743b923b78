// SPDX-License-Identifier: Apache-2.0
// Reports of the tuned configuration: the layer table as CSV (RFC 4180), everything as JSON, and a
// self-contained HTML page.

#include <algorithm>

#include "config/config_json.h"
#include "config/precision_rules.h"
#include "interchange/aimet/encodings_json.h"
#include "interchange/reports/class_report.h"
#include "interchange/reports/csv.h"
#include "interchange/reports/html_report.h"
#include "interchange/reports/report_curves.h"
#include "interchange/reports/report_values.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "picture/picture_text.h"
#include "picture/write_picture.h"
#include "results/accuracy_numbers.h"
#include "session/studies/evaluation_gain.h"

namespace quantloupe {
namespace {

std::string csvLine(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += ',';
        line += csvCell(cells[i]);
    }
    return line + "\r\n";
}

OrderedJson numberOrNull(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson accuracyJson(const std::optional<Accuracy>& accuracy) {
    if (!accuracy) return nullptr;
    OrderedJson json = {{"samples", accuracy->samples}};
    for (const auto& [key, number] : kAccuracyNumbers) json[key] = numberOrNull(accuracy.value().*number);
    if (accuracy->userMetric) json["metric"] = *accuracy->userMetric;
    return json;
}

std::string percent(const std::optional<double>& rate) {
    return rate ? fmt::format("{:.2f} %", 100 * *rate) : std::string("\u2013");
}

std::string accuracyRow(const char* name, const std::optional<Accuracy>& a) {
    if (!a) return {};
    if (a->tokenAccuracy)
        return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                           name, a->samples, percent(a->tokenAccuracy), reportNumber(a->perplexity),
                           percent(a->agreement), a->sqnrDb ? reportNumber(a->sqnrDb) + " dB" : "\u2013");
    if (a->map || a->miou)
        return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", name,
                           a->samples, percent(a->map ? a->map : a->miou),
                           percent(a->map ? a->map50 : a->pixelAccuracy),
                           a->sqnrDb ? reportNumber(a->sqnrDb) + " dB" : "\u2013");
    return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", name,
                       a->samples, percent(a->top1), percent(a->top5), percent(a->agreement),
                       a->sqnrDb ? reportNumber(a->sqnrDb) + " dB" : "\u2013");
}

/// Returns the SVG element of the graph, to be embedded in a page.
std::string inlineSvg(const ExportSource& source) {
    const std::string svg = graphToSvg(*source.prepared->source, source.layers);
    const std::size_t start = svg.find("<svg");
    return start == std::string::npos ? std::string() : svg.substr(start);
}

/// Lists the comments separately in addition to the table, because readers look for them first.
std::string commentList(const ExportSource& source) {
    std::string items;
    for (const auto& [name, settings] : source.config.layers)
        if (!settings.comment.empty())
            items += fmt::format("<li><b>{}</b>: {}</li>\n", escapedXml(name), escapedXml(settings.comment));
    return items.empty() ? items : "<h2>Comments</h2>\n<ul>\n" + items + "</ul>\n";
}

/// How pages show leave-one-out: changes of rates in points.
struct GainColumn {
    const char* unit;  ///< after the title
    double factor;

    std::optional<double> of(const LayerResult& layer) const {
        return layer.leaveOneOut ? std::optional(factor * *layer.leaveOneOut) : std::nullopt;
    }
};

GainColumn gainColumnOf(const ExportSource& source) {
    if (!source.evaluation || !source.evaluation->quantized) return {"", 1};
    const TaskMetric metric = gainMetric(*source.evaluation);
    if (traitsOf(metric).rate) return {", points", 100};
    return {metric == TaskMetric::Sqnr ? ", dB" : ", metric", 1};
}

std::string layerTable(const ExportSource& source) {
    std::string text = "<div class=\"scroll\">\n<table>\n<tr>";
    const GainColumn gain = gainColumnOf(source);
    for (const std::string& column : reportColumns())
        text += "<th>" + column + (column == kGainColumn ? gain.unit : "") + "</th>";
    text += "</tr>\n";
    for (const LayerResult& layer : source.layers) {
        text += fmt::format("<tr class=\"{}\">", layerStateName(layer.state));
        auto cells = reportRow(source, layer);
        cells[static_cast<std::size_t>(std::ranges::find(reportColumns(), kGainColumn) -
                                       reportColumns().begin())] = reportNumber(gain.of(layer));
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += fmt::format("<td{}>{}</td>", i >= 6 && i + 1 < cells.size() ? " class=\"n\"" : "",
                                escapedXml(cells[i]));
        text += "</tr>\n";
    }
    return text + "</table>\n</div>\n";
}

/// Not all columns fit on paper: name, operator and comment share one column, state and reason
/// another, and the cosines are omitted.
std::string paperTable(const ExportSource& source) {
    const auto share = [](int percent, const std::string& title) {
        return fmt::format("<th width=\"{}%\" align=\"left\">{}</th>", percent, title);
    };
    const GainColumn gain = gainColumnOf(source);
    // thead is repeated on each page.
    std::string text = "<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\">\n<thead><tr>" +
                       share(28, "layer") + share(22, "state") + share(6, "weight QS") +
                       share(6, "local QS") + share(6, "SQNR, dB") + share(6, "cumulative QS") +
                       share(6, "SQNR, dB") + share(6, std::string("leave-one-out") + gain.unit) +
                       share(8, "MACs") + share(6, "parameters") + "</tr></thead>\n<tbody>\n";
    using D = TensorDifference;
    const auto cell = [](const std::optional<double>& value) {
        return "<td align=\"right\">" +
               (value && std::isfinite(*value) ? fmt::format("{:.4g}", *value) : reportNumber(value)) +
               "</td>";
    };
    const auto of = [](const std::optional<D>& difference, double D::*member) {
        return difference ? std::optional<double>((*difference).*member) : std::nullopt;
    };
    const bool mixed = hasPrecisions(source.config);
    for (const LayerResult& layer : source.layers) {
        const LayerSettings* const own = source.config.settingsOf(layer.name);
        const std::string precision = mixed ? ", " + precisionName(layer.precision) : std::string();
        const std::string comment = own == nullptr ? "" : own->comment;
        const char* color = layer.state == LayerState::Quantized ? "#e3f4e3"
                            : layer.state == LayerState::Skipped || layer.state == LayerState::Float
                                ? "#fdf6d3"
                                : "#ffffff";
        text += fmt::format("<tr bgcolor=\"{}\"><td>{} <i>{}</i>{}</td><td>{}{}</td>", color,
                            escapedXml(layer.name), escapedXml(layer.op),
                            comment.empty() ? "" : "<br/>" + escapedXml(comment),
                            std::string(layerStateName(layer.state)) + precision,
                            layer.reason.empty() ? "" : ": " + escapedXml(layer.reason));
        text += cell(of(layer.weight, &D::qs)) + cell(of(layer.local, &D::qs)) +
                cell(of(layer.local, &D::sqnrDb)) + cell(of(layer.cumulative, &D::qs)) +
                cell(of(layer.cumulative, &D::sqnrDb)) + cell(gain.of(layer));
        text +=
            fmt::format("<td align=\"right\">{}</td><td align=\"right\">{}</td></tr>\n",
                        layer.macsReason.empty() ? std::to_string(layer.macs) : "\u2013", layer.parameters);
    }
    return text + "</tbody>\n</table>\n";
}

constexpr const char* kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #1c2430; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; } th, td { border-bottom: 1px solid #d5dbe3; padding: .25em .7em; text-align: left; }
.scroll { overflow: auto; max-height: 42em; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.quantized { background: #e3f4e3; } .skipped, .float { background: #fdf6d3; } .folded, .fused { color: #6a7482; }
pre { background: #f4f6f9; padding: 1em; overflow: auto; } svg { height: auto; }
)";

/// Uses only the style sheet properties that Qt's text documents support.
constexpr const char* kPaperStyle = R"(
body { color: #1c2430; } h1 { font-size: 15pt; } h2 { font-size: 11pt; } th, td { padding: 1px 3px; } pre { background: #f4f6f9; }
)";

}  // namespace

ExportResult writeCsvReport(const ExportSource& source) {
    std::string text = csvLine(reportColumns());
    for (const LayerResult& layer : source.layers) text += csvLine(reportRow(source, layer));
    return {{{"", text, nullptr, false}}, {}};
}

ExportResult writeJsonReport(const ExportSource& source) {
    OrderedJson json;
    json["model"] = source.model.filename().string();
    json["config"] = OrderedJson::parse(configToJson(source.config));
    const Evaluation none;
    const Evaluation& e = source.evaluation ? *source.evaluation : none;
    json["random_inputs"] = e.randomInputs;
    json["float"] = accuracyJson(e.floating);
    json["prepared"] = accuracyJson(e.prepared);
    json["quantized"] = accuracyJson(e.quantized);
    const auto steps = [](const std::vector<AccuracyStep>& path) {
        OrderedJson list = OrderedJson::array();
        for (const AccuracyStep& step : path)
            list.push_back({{"name", step.name}, {"accuracy", accuracyJson(step.accuracy)}});
        return list;
    };
    json.update(classesJson(e));
    json["accuracy_path"] = steps(source.path);
    json["history"] = steps(source.history);
    json["counts"] = {{"quantized", e.counts.quantized},
                      {"skipped", e.counts.skipped},
                      {"float", e.counts.floating},
                      {"folded", e.counts.folded},
                      {"fused", e.counts.fused}};
    json["layers"] = OrderedJson::array();
    using D = TensorDifference;
    const bool mixed = hasPrecisions(source.config);
    for (const LayerResult& layer : source.layers) {
        OrderedJson row = {{"name", layer.name}, {"module", layer.module},
                           {"op", layer.op},     {"state", layerStateName(layer.state)},
                           {"io", layer.io},     {"reason", layer.reason},
                           {"host", layer.host}};
        if (mixed) row["precision"] = precisionName(layer.precision);
        const auto difference = [&](const char* key, const std::optional<D>& d) {
            row[key] = d ? OrderedJson{{"qs", numberOrNull(d->qs)},
                                       {"cosine", numberOrNull(d->cosine)},
                                       {"sqnr_db", numberOrNull(d->sqnrDb)}}
                         : OrderedJson(nullptr);
        };
        difference("weight", layer.weight);
        difference("local", layer.local);
        difference("cumulative", layer.cumulative);
        row[kGainColumn] = numberOrNull(layer.leaveOneOut);
        row["macs"] = layer.macsReason.empty() ? OrderedJson(layer.macs) : OrderedJson(nullptr);
        if (!layer.macsReason.empty()) row["macs_reason"] = layer.macsReason;
        row["parameters"] = layer.parameters;
        const LayerSettings* const own = source.config.settingsOf(layer.name);
        row["comment"] = own == nullptr ? "" : own->comment;
        json["layers"].push_back(std::move(row));
    }
    json["notices"] = e.notices;
    return {{{"", dumpedJson(json), nullptr, false}}, {}};
}

std::string htmlReport(const ExportSource& source, bool paper) {
    const Evaluation none;
    const Evaluation& e = source.evaluation ? *source.evaluation : none;
    const std::string title = escapedXml(source.model.filename().string());
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{0}, "
        "quantized</title>\n"
        "<style>{1}</style>\n</head>\n<body>\n<h1>{0}, quantized</h1>\n",
        title, paper ? kPaperStyle : kStyle);
    text += fmt::format("<p>{} quantized, {} skipped, {} in float, {} folded, {} fused.</p>\n",
                        counted(e.counts.quantized, "layer"), e.counts.skipped, e.counts.floating,
                        e.counts.folded, e.counts.fused);
    if (e.quantized) {
        text += "<h2>Accuracy</h2>\n";
        if (e.randomInputs) text += "<p>Evaluated on random inputs, not on real data.</p>\n";
        const char* columns = e.quantized->map    ? "<th>mAP@50:95</th><th>mAP@50</th>"
                              : e.quantized->miou ? "<th>mIoU</th><th>pixel accuracy</th>"
                              : e.quantized->tokenAccuracy
                                  ? "<th>token accuracy</th><th>perplexity</th><th>agreement</th>"
                                  : "<th>top-1</th><th>top-5</th><th>agreement</th>";
        text += fmt::format("<table>\n<tr><th></th><th>samples</th>{}<th>SQNR</th></tr>\n", columns);
        text += accuracyRow("float", e.floating) + accuracyRow("after the transforms", e.prepared) +
                accuracyRow("quantized", e.quantized) + "</table>\n";
        if (e.floating && e.quantized && e.quantized->userMetric)
            text += fmt::format("<p>Metric: {} in float, {} quantized</p>\n",
                                reportNumber(e.floating->userMetric), reportNumber(e.quantized->userMetric));
    } else {
        text += "<p>Not evaluated: no data was given.</p>\n";
    }
    const auto plot = [&](const char* heading, const std::string& svg) {
        if (!svg.empty()) text += fmt::format("<h2>{}</h2>\n{}", heading, svg);
    };
    text += classesHtml(e);
    plot("Accuracy loss by step", pathPlot(source.path));
    plot("Accuracy history", historyPlot(source.history));
    plot("Layer sensitivity", sensitivityPlot(source.layers));
    text += commentList(source);
    const std::string_view chapter = paper ? "<h2 style=\"page-break-before: always\">" : "<h2>";
    text += fmt::format("{}Network</h2>\n", chapter);
    text += "<div class=\"scroll\">\n" + inlineSvg(source) + "\n</div>\n";
    text += fmt::format("{}Layers</h2>\n", chapter) + (paper ? paperTable(source) : layerTable(source));
    if (!e.notices.empty()) {
        text += "<h2>Notices</h2>\n<ul>\n";
        for (const std::string& notice : e.notices) text += "<li>" + escapedXml(notice) + "</li>\n";
        text += "</ul>\n";
    }
    text += fmt::format("{}Configuration</h2>\n<pre>", chapter) + escapedXml(configToJson(source.config)) +
            "</pre>\n</body>\n</html>\n";
    return text;
}

ExportResult writeHtmlReport(const ExportSource& source) {
    return {{{"", htmlReport(source, false), nullptr, false}}, {}};
}

}  // namespace quantloupe
