// SPDX-License-Identifier: Apache-2.0
// tune: finds the layers to keep in float, and their cost. Ctrl+C stops the search and keeps the best result
// so far; a second Ctrl+C ends the program.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "commands.h"
#include "config/config_json.h"
#include "open_session.h"
#include "progress_line.h"
#include "readable.h"
#include "tune_json.h"

namespace quantloupe::cli {
namespace {

constexpr int kTargetMissed = 3;

const CancelToken* interrupted = nullptr;  // cancelled by Ctrl+C; set while a search runs

extern "C" void interrupt(int) {
    interrupted->cancel();
    std::signal(SIGINT, SIG_DFL);
}

TuneResult tuneUntilInterrupted(Session& session, const QuantizationConfig& config,
                                const TuneOptions& options) {
    static const CancelToken token;
    interrupted = &token;
    std::signal(SIGINT, interrupt);
    try {
        TuneResult result = tune(session, config, options, token);
        std::signal(SIGINT, SIG_DFL);
        return result;
    } catch (const Cancelled&) {
        failInput("the search was stopped before its first evaluation finished");
    }
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0
               ? "-"
               : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string metricText(const TuneResult& result, const TunePoint& point) {
    return result.metric == "sqnr_db" ? decibels(point.metric) : percent(point.metric);
}

std::string intervalText(const TunePoint& point) {
    if (!point.dropInterval) return "-";
    return fmt::format("{:.2f} to {:.2f}", 100 * point.dropInterval->low, 100 * point.dropInterval->high);
}

void printCurve(const TuneResult& result) {
    const auto rate = taskRate(result.curve.front().accuracy);
    const char* metric = rate ? rate->title : "SQNR";
    fmt::print("  {:>6} {:>12} {:>12} {:>12}  {:>13} {:>7}  {:<15}\n", "layers", "MACs", "parameters",
               "transitions", metric, "drop", "95 % interval");
    for (std::size_t i = 0; i < result.curve.size(); ++i) {
        const TunePoint& point = result.curve[i];
        fmt::print("{} {:>6} {:>12} {:>12} {:>12}  {:>13} {:>7.2f}  {:<15}{}\n",
                   i == result.chosen ? '>' : ' ', point.cost.layers,
                   result.quantized.macsKnown ? share(point.cost.macs, result.quantized.macs) : "\u2013",
                   share(point.cost.parameters, result.quantized.parameters), point.transitions,
                   metricText(result, point), 100 * point.drop, intervalText(point),
                   point.transforms.empty() ? "" : "  " + point.transforms);
    }
}

void printReadable(const TuneResult& result, const Options& options) {
    fmt::print("{}: {} samples evaluated, {} layers quantized initially", options.model.filename().string(),
               result.samples, result.quantized.layers);
    if (const auto rate = taskRate(result.floating); rate && !rate->relative())
        fmt::print("; float {} {}", rate->title, percent(rate->value));
    fmt::print(
        "\n\nfewest {} in float for each accuracy drop; shares of the initially quantized layers; drop in "
        "percentage points{}\n",
        result.cost == TuneCost::Macs ? "MACs" : tuneCostName(result.cost),
        result.metric == "sqnr_db" ? " (percent of relative error)" : "");
    printCurve(result);
    fmt::print("\n{}\n", describe(result));
    const TunePoint& chosen = result.curve[result.chosen];
    if (!chosen.layers.empty())
        fmt::print("{}\n", result.reached ? "in float:" : "in float at the best point found:");
    for (const std::string& name : chosen.layers) fmt::print("  {}\n", name);
    fmt::print("\n{} steps, {} evaluations, {:.1f} seconds\n", result.steps, result.evaluations,
               result.seconds);
}

}  // namespace

int runTune(const Options& options) {
    OpenedSession opened = openSession(options);
    ProgressLine line;
    TuneOptions tuneOptions = options.tune;
    tuneOptions.progress = [&line](const TuneProgress& progress) {
        const std::string stage = describe(progress.stage);
        line.show({stage, progress.done, progress.total});
    };
    const TuneResult result = tuneUntilInterrupted(*opened.session, options.config, tuneOptions);
    line.clear();
    for (const std::string& text : result.notices)
        if (text != opened.session->dataNotice()) notice(text);
    if (!options.saveFound.empty()) saveConfig(result.curve[result.chosen].config, options.saveFound);
    if (options.json) {
        Json json = {{"model", options.model.string()}};
        json["float"] = toJson(std::optional(result.floating), Role::Floating);
        json.update(toJson(result));
        json["samples"] = result.samples;
        json["notices"] = result.notices;
        json["seconds"] = {{"load", opened.loadSeconds}, {"total", opened.loadSeconds + result.seconds}};
        printJson(json);
    } else {
        printReadable(result, options);
    }
    return result.reached ? 0 : kTargetMissed;
}

}  // namespace quantloupe::cli
