// SPDX-License-Identifier: Apache-2.0
// analyze: how good the quantized network is, and which layers make the difference.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands.h"
#include "json_output.h"
#include "open_session.h"
#include "progress_line.h"

namespace quantloupe::cli {
namespace {

std::string percent(const std::optional<double>& rate) {
    return rate ? fmt::format("{:.2f} %", *rate * 100) : "-";
}

std::string decibels(const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return "-";
    if (std::isinf(*value)) return *value > 0 ? "no difference" : "-inf";
    return fmt::format("{:.2f} dB", *value);
}

void printAccuracy(const char* name, const std::optional<Accuracy>& accuracy, bool reference, int width = 10) {
    if (!accuracy) return;
    std::string interval = "";
    if (accuracy->top1Interval) {
        interval = fmt::format("{:.1f} to {:.1f}", accuracy->top1Interval->low * 100,
                               accuracy->top1Interval->high * 100);
    }
    fmt::print("{:<{}} {:>9}  {:<14} {:>9}", name, width, percent(accuracy->top1), interval,
               percent(accuracy->top5));
    if (!reference) {
        fmt::print("  {:>9}  {:>13}", percent(accuracy->agreement), decibels(accuracy->sqnrDb));
        if (accuracy->maxAbsDiff) fmt::print("  {:.3g}", *accuracy->maxAbsDiff);
    }
    fmt::print("\n");
}

void printLayers(const Evaluation& result, const Options& options) {
    std::vector<const LayerResult*> layers;
    for (const LayerResult& layer : result.layers) {
        if (options.allLayers || layer.local) layers.push_back(&layer);
    }
    const auto qs = [](const LayerResult* layer) { return layer->local ? layer->local->qs : -1.0; };
    std::stable_sort(layers.begin(), layers.end(),
                     [&](const auto* a, const auto* b) { return qs(a) > qs(b); });
    if (!options.allLayers && layers.size() > options.worst) layers.resize(options.worst);
    if (layers.empty()) return;

    fmt::print("\n{} by local sensitivity (QS): state; QS of the weight, local, cumulative; SQNR local\n",
               options.allLayers ? "all layers" : "worst layers");
    std::size_t width = 5;
    for (const LayerResult* layer : layers) width = std::max(width, layer->name.size());
    for (const LayerResult* layer : layers) {
        const auto number = [](const std::optional<TensorDifference>& d) {
            return d ? fmt::format("{:.4f}", d->qs) : std::string("-");
        };
        fmt::print("  {:<{}}  {:<12} {:<10} {:>8} {:>8} {:>8}  {:>10}\n", layer->name, width, layer->op,
                   layerStateName(layer->state), number(layer->weight), number(layer->local), number(layer->cumulative),
                   layer->local ? decibels(layer->local->sqnrDb) : "-");
    }
}

void printReadable(const Evaluation& result, const Options& options) {
    fmt::print("{}: {} {} evaluated, {} calibrate\n\n", options.model.filename().string(), result.samples,
               result.randomInputs ? "random inputs" : "samples", result.calibrationSamples);
    fmt::print("{:<10} {:>9}  {:<14} {:>9}  {:>9}  {:>13}  {}\n", "", "top-1", "95 % interval", "top-5",
               "agreement", "SQNR", "max |diff|");
    printAccuracy("float", result.floating, true);
    printAccuracy("prepared", result.prepared, false);
    printAccuracy("quantized", result.quantized, false);
    if (result.randomInputs)
        fmt::print("(random inputs: these numbers and those of the layers are of noise, only the weights' are real)\n");
    else if (result.floating && !result.floating->top1)
        fmt::print("(the data has no labels: agreement is with the float model)\n");

    const StateCounts& counts = result.counts;
    fmt::print("\nlayers: {} quantized, {} skipped, {} float, {} folded, {} fused\n", counts.quantized,
               counts.skipped, counts.floating, counts.folded, counts.fused);
    fmt::print("transforms: {} batch norms folded, {} Clip(0, 6) replaced, {} sets equalized\n",
               result.foldedBatchNorms, result.replacedClips, result.equalizationSets);
    printLayers(result, options);

    const StageSeconds& s = result.seconds;
    fmt::print(
        "\nseconds: load {:.2f}, transform {:.2f}, calibrate {:.2f}, float {:.2f}, quantized {:.2f}, metrics "
        "{:.2f}, "
        "total {:.2f}\n",
        s.load, s.transform, s.calibrate, s.floating, s.quantized, s.metrics, s.total);
}

Json document(const Evaluation& result, const Options& options) {
    Json json = {{"model", options.model.string()}};
    json["float"] = toJson(result.floating, Role::Floating);
    json["prepared"] = toJson(result.prepared, Role::Prepared);
    json["quantized"] = toJson(result.quantized, Role::Quantized);
    json["counts"] = toJson(result.counts);
    json["layers"] = Json::array();
    for (const LayerResult& layer : result.layers) json["layers"].push_back(toJson(layer));
    json["random_inputs"] = result.randomInputs;
    json["samples"] = result.samples;
    json["calibration_samples"] = result.calibrationSamples;
    json["transforms"] = {{"folded_batch_norms", result.foldedBatchNorms},
                          {"replaced_clips", result.replacedClips},
                          {"equalization_sets", result.equalizationSets}};
    json["notices"] = result.notices;
    json["seconds"] = toJson(result.seconds);
    return json;
}

}  // namespace

void runAnalyze(const Options& options) {
    OpenedSession opened = openSession(options, {.randomInputs = true});
    ProgressLine progress;
    const EvaluationPtr evaluated =
        opened.session->evaluate(options.config, Depth::Metrics, progress.observer());
    progress.clear();
    // The session was handed a loaded model and cannot know how long that took.
    Evaluation result = *evaluated;
    result.seconds.total += opened.loadSeconds - result.seconds.load;
    result.seconds.load = opened.loadSeconds;
    for (const std::string& text : result.notices)
        if (text != opened.session->dataNotice()) notice(text);  // that was said before the run
    std::vector<AccuracyStep> path;
    if (options.path) path = opened.session->accuracyPath(options.config);
    if (options.json) {
        Json json = document(result, options);
        for (const AccuracyStep& step : path) {
            Json entry = toJson(step.accuracy, Role::Quantized);
            entry["step"] = step.name;
            json["path"].push_back(std::move(entry));
        }
        printJson(json);
    } else {
        printReadable(result, options);
        if (!path.empty()) fmt::print("\nwhere the accuracy went:\n");
        for (const AccuracyStep& step : path) printAccuracy(step.name.c_str(), step.accuracy, false, 22);
    }
}

}  // namespace quantloupe::cli
