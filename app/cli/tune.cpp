// SPDX-License-Identifier: Apache-2.0
// tune: finds the precision of each layer, and the resulting cost. Ctrl+C stops the search and keeps the best
// result so far; a second Ctrl+C ends the program.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "config/config_json.h"
#include "latency.h"
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
                                const TuneOptions& options, const std::optional<CancelToken>& cancel) {
    if (cancel) {
        TuneResult result = tuneOnPart(session, config, options, *cancel);
        cancel->check();
        return result;
    }
    static const CancelToken token;
    interrupted = &token;
    std::signal(SIGINT, interrupt);
    try {
        TuneResult result = tuneOnPart(session, config, options, token);
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
    if (result.metric == TaskMetric::User) return fmt::format("{:.6g}", point.metric);
    return result.metric == TaskMetric::Sqnr ? decibels(point.metric) : percent(point.metric);
}

std::string dropText(const TuneResult& result, const TunePoint& point) {
    return result.metric == TaskMetric::User ? fmt::format("{:.4g}", point.drop)
                                             : fmt::format("{:.2f}", 100 * point.drop);
}

std::string intervalText(const TunePoint& point) {
    if (!point.dropInterval) return {};
    return fmt::format("{:.2f} to {:.2f}", 100 * point.dropInterval->low, 100 * point.dropInterval->high);
}

void printCurve(const TuneResult& result) {
    const bool costs = !countsFloat(result.cost);
    const bool intervals = std::ranges::any_of(
        result.curve, [](const TunePoint& point) { return point.dropInterval.has_value(); });
    fmt::print("  {}{:>6} {:>12} {:>12} {:>12}  {:>13} {:>7}  {:<15}\n",
               costs ? fmt::format("{:>12} ", costName(result.cost)) : "", "layers", "MACs", "parameters",
               "transitions", traitsOf(result.metric).title, "drop", intervals ? "95 % interval" : "");
    for (std::size_t i = 0; i < result.curve.size(); ++i) {
        const TunePoint& point = result.curve[i];
        fmt::print("{} {}{:>6} {:>12} {:>12} {:>12}  {:>13} {:>7}  {:<15}{}\n",
                   i == result.chosen ? '>' : ' ', costs ? fmt::format("{:>12.5g} ", point.amount) : "",
                   point.cost.layers,
                   result.quantized.macsKnown ? share(point.cost.macs, result.quantized.macs) : "\u2013",
                   share(point.cost.parameters, result.quantized.parameters), point.transitions,
                   metricText(result, point), dropText(result, point), intervalText(point),
                   point.transforms.empty() ? "" : "  " + point.transforms);
    }
}

std::string leastText(const TuneResult& result) {
    if (countsFloat(result.cost))
        return fmt::format("fewest {} in float",
                           result.cost == TuneCost::Macs ? "MACs" : costName(result.cost));
    return result.cost == TuneCost::Milliseconds ? "lowest latency"
           : result.cost == TuneCost::Bytes      ? "fewest bytes of weights"
                                                 : "fewest bit operations";
}

/// Prints the number of layers of each precision, and the names of all but the most frequent one.
void printPrecisions(const TunePoint& point) {
    std::map<Precision, std::vector<std::string>> layers;
    for (const auto& [name, precision] : point.precisions) layers[precision].push_back(name);
    const auto most = std::ranges::max_element(layers, {}, [](const auto& one) { return one.second.size(); });
    for (const auto& [precision, names] : layers) {
        fmt::print("{}: {}\n", precisionName(precision), counted(names.size(), "layer"));
        if (&names == &most->second) continue;
        for (const std::string& name : names) fmt::print("  {}\n", name);
    }
}

/// Returns the part of the chosen point's milliseconds that was estimated. Layers that cannot be quantized
/// compute in float.
double estimatedMs(const Graph& graph, const TunePoint& point, const LatencyTable& latency) {
    std::vector<Precision> precisions(graph.nodeCount(), Precision::float32());
    for (const auto& [name, precision] : point.precisions)
        precisions[graph.findNode(name)->index()] = precision;
    double sum = 0;
    for (std::size_t layer = 0; layer < precisions.size(); ++layer) {
        const LatencyCell cell = latency.at(layer, precisions[layer]);
        if (cell.estimated) sum += cell.ms;
    }
    return sum;
}

void printReadable(const TuneResult& result, const Options& options, std::optional<double> estimated) {
    fmt::print("{}: {} evaluated, {} quantized initially", options.model.filename().string(),
               counted(result.samples, "sample"), counted(result.quantized.layers, "layer"));
    if (result.metric == TaskMetric::User)
        fmt::print("; float metric {:.6g}", result.floating.userMetric.value_or(0));
    else if (const auto rate = taskRate(result.floating); rate && !rate->relative())
        fmt::print("; float {} {}", rate->title(), percent(rate->value));
    fmt::print("\n\n{} for each {}drop; shares of the initially quantized layers; drop in {}\n",
               leastText(result), result.metric == TaskMetric::User ? "" : "accuracy ",
               result.metric == TaskMetric::User   ? "the unit of the metric"
               : result.metric == TaskMetric::Sqnr ? "percentage points (percent of relative error)"
                                                   : "percentage points");
    printCurve(result);
    fmt::print("\n{}\n", describe(result));
    if (estimated) fmt::print("{} of this is estimated\n", costText(result.cost, *estimated));
    const TunePoint& chosen = result.curve[result.chosen];
    if (!options.tune.precisions.empty()) {
        printPrecisions(chosen);
    } else {
        if (!chosen.layers.empty())
            fmt::print("{}\n", result.reached ? "in float:" : "in float at the best point found:");
        for (const std::string& name : chosen.layers) fmt::print("  {}\n", name);
    }
    fmt::print("\n{}, {}{}, {:.1f} seconds\n", counted(result.steps, "step"),
               counted(result.evaluations, "evaluation"),
               result.reused == 0 ? "" : fmt::format(" and {} reused from earlier searches", result.reused),
               result.seconds);
}

}  // namespace

int runTune(const Options& options) {
    OpenedSession opened = openSession(options);
    useMetricProgram(*opened.session, options);
    ProgressLine line;
    TuneOptions tuneOptions = options.tune;
    tuneOptions.latency = latencyOf(*opened.session, options);
    tuneOptions.measurements = options.measurementFile();
    tuneOptions.reuse = options.resume;
    tuneOptions.program = options.measuredWith();
    tuneOptions.progress = [&line](const TuneProgress& progress) {
        const std::string stage = describe(progress.stage);
        line.show({stage, progress.done, progress.total});
    };
    const TuneResult result =
        tuneUntilInterrupted(*opened.session, options.config, tuneOptions, options.cancel);
    line.clear();
    for (const std::string& text : result.notices) notice(text);
    std::optional<double> estimated;
    if (tuneOptions.latency)
        estimated = estimatedMs(opened.session->graph(), result.curve[result.chosen], *tuneOptions.latency);
    if (options.json) {
        OrderedJson json = {{"model", options.model.string()}};
        json["float"] = toJson(std::optional(result.floating), Role::Floating);
        json.update(toJson(result));
        if (estimated) json["estimated"] = *estimated;
        json["samples"] = result.samples;
        json["notices"] = result.notices;
        json["seconds"] = {{"load", opened.loadSeconds}, {"total", opened.loadSeconds + result.seconds}};
        printJson(json);
    } else {
        printReadable(result, options, estimated);
    }
    // After the result, which would be lost if the file cannot be written.
    if (!options.saveFound.empty()) saveConfig(result.curve[result.chosen].config, options.saveFound);
    return result.reached ? 0 : kTargetMissed;
}

}  // namespace quantloupe::cli
