// SPDX-License-Identifier: Apache-2.0
// leave-one-out: the gain from keeping each quantized layer in float, one at a time, on all samples.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/label_check.h"
#include "base/short_text.h"
#include "commands.h"
#include "open_session.h"
#include "progress_line.h"
#include "readable.h"
#include "search/resumable_sweep.h"
#include "sweep_json.h"

namespace quantloupe::cli {
namespace {

/// How values of a metric are printed.
struct Unit {
    double factor = 1;
    const char* name = "";
    const char* gain = "";
    const char* digits = "{:.2f}";

    std::string text(double value) const { return fmt::format(fmt::runtime(digits), factor * value) + name; }
    std::string gainText(double value) const {
        const std::string number = fmt::format(fmt::runtime(digits), factor * value);
        return number.starts_with('-') ? number : "+" + number;
    }
};

Unit unitOf(TaskMetric metric) {
    if (metric == TaskMetric::Sqnr) return {1, " dB", "dB"};
    if (metric == TaskMetric::User) return {1, "", "the unit of the metric", "{:.5g}"};
    return {100, " %", "points"};
}

void printReadable(const LayerSweep& sweep, const EvaluationPtr& base, const Options& options,
                   std::size_t reused) {
    const Unit unit = unitOf(sweep.metric);
    fmt::print("{}: {} evaluated, {} quantized; {} {}\n\n", options.model.filename().string(),
               counted(base->samples, "sample"), counted(sweep.layers.size(), "layer"),
               traitsOf(sweep.metric).title, unit.text(sweep.baseline));
    std::vector<const LayerEffect*> layers;
    for (const LayerEffect& layer : sweep.layers) layers.push_back(&layer);
    // With few samples, many layers have the same gain.
    std::ranges::stable_sort(layers, std::greater<>(), [](const auto* layer) {
        return std::pair(layer->change, layer->sqnrDb.value_or(-HUGE_VAL));
    });
    if (!options.allLayers && layers.size() > options.worst) layers.resize(options.worst);
    const auto nameOf = [&](const LayerEffect* layer) {
        return nameWithModule(base->layers[layer->node.index()]);
    };
    std::size_t width = 5;
    for (const LayerEffect* layer : layers) width = std::max(width, nameOf(layer).size());
    const bool intervals =
        std::ranges::any_of(layers, [](const auto* layer) { return layer->paired.has_value(); });
    fmt::print("{} by gain with only this layer in float, in {}; {}SQNR\n",
               options.allLayers ? "all layers" : "worst layers", unit.gain,
               intervals ? "95 % interval; " : "");
    for (const LayerEffect* layer : layers) {
        std::string interval;
        if (layer->paired)
            interval = unit.gainText(layer->paired->low) + " to " + unit.gainText(layer->paired->high);
        fmt::print("  {:<{}}  {:>8}  {:<{}}  {:>10}\n", nameOf(layer), width, unit.gainText(layer->change),
                   interval, intervals ? 16 : 0, decibels(layer->sqnrDb));
    }
    fmt::print("\n{}{:.1f} seconds\n", reused == 0 ? "" : fmt::format("{} evaluations reused, ", reused),
               sweep.seconds);
}

}  // namespace

void runLeaveOneOut(const Options& options) {
    SweepFile file{options.measurementFile(), options.resume, options.measuredWith()};
    OpenedSession opened = openSession(options);
    Session& session = *opened.session;
    useMetricProgram(session, options);
    ProgressLine line;
    const EvaluationPtr base = session.evaluate(options.config, Depth::Accuracy, line.observer());
    std::size_t done = 0;
    SweepOptions sweeping;
    sweeping.settledBelow = 0;  // exact: all layers on all samples
    sweeping.updated = [&](const LayerSweep& sweep) {
        line.show({"leave-one-out", std::min(++done, sweep.layers.size()), sweep.layers.size()});
    };
    const LayerSweep sweep =
        resumableLeaveOneOut(session, options.config, file, sweeping, options.cancel.value_or(CancelToken()));
    line.clear();
    file.notices.insert(file.notices.end(), base->notices.begin(), base->notices.end());
    for (const std::string& text : file.notices) notice(text);
    if (const LabelProblem problem = labelProblem(*base); !problem.text.empty()) notice(problem.text);
    if (!options.json) return printReadable(sweep, base, options, file.reused);
    OrderedJson json = {{"model", options.model.string()}};
    json.update(toJson(sweep, session.graph()));
    json["reused"] = file.reused;
    json["samples"] = base->samples;
    json["notices"] = file.notices;
    json["seconds"] = {{"load", opened.loadSeconds}, {"total", opened.loadSeconds + sweep.seconds}};
    printJson(json);
}

}  // namespace quantloupe::cli
