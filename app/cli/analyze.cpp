// SPDX-License-Identifier: Apache-2.0
// analyze: the accuracy of the quantized network, and which layers cause the loss.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/class_results.h"
#include "analysis/label_check.h"
#include "analysis_extras.h"
#include "base/short_text.h"
#include "commands.h"
#include "json_output.h"
#include "open_session.h"
#include "progress_line.h"
#include "readable.h"
#include "session/studies/evaluation_gain.h"

namespace quantloupe::cli {
namespace {

/// "mAP@50:95 34.20 %, mAP@50 51.00 %"; empty unless the task is graded.
std::string taskText(const Accuracy& accuracy) {
    if (accuracy.map)
        return fmt::format("mAP@50:95 {}, mAP@50 {}", percent(accuracy.map), percent(accuracy.map50));
    if (accuracy.miou)
        return fmt::format("mIoU {}, pixel accuracy {}", percent(accuracy.miou),
                           percent(accuracy.pixelAccuracy));
    if (accuracy.tokenAccuracy) {
        std::string text = fmt::format("token accuracy {}", percent(accuracy.tokenAccuracy));
        if (accuracy.perplexity) text += fmt::format(", perplexity {:.5g}", *accuracy.perplexity);
        return text;
    }
    return {};
}

void printAccuracy(const char* name, const std::optional<Accuracy>& accuracy, bool reference,
                   int width = 10) {
    if (!accuracy) return;
    if (const std::string task = taskText(*accuracy); !task.empty()) {
        fmt::print("{:<{}} {}", name, width, task);
        if (!reference && accuracy->agreement) fmt::print("; agreement {}", percent(accuracy->agreement));
        if (!reference) fmt::print("; SQNR {}", decibels(accuracy->sqnrDb));
        fmt::print("\n");
        return;
    }
    std::string interval = "";
    if (accuracy->top1Interval) {
        interval = fmt::format("{:.1f} to {:.1f}", accuracy->top1Interval->low * 100,
                               accuracy->top1Interval->high * 100);
    }
    fmt::print("{:<{}} {:>9}  {:<14} {:>9}", name, width, percent(accuracy->top1), interval,
               percent(accuracy->top5));
    if (!reference) {
        fmt::print("  {:>9}  {:>13}", percent(accuracy->agreement), decibels(accuracy->sqnrDb));
        if (accuracy->maxAbsDiff && !std::isnan(*accuracy->maxAbsDiff))
            fmt::print("  {:.3g}", *accuracy->maxAbsDiff);
        if (accuracy->mse) fmt::print("  MSE {:.4g}, PSNR {}", *accuracy->mse, decibels(accuracy->psnrDb));
    }
    fmt::print("\n");
}

void printReadable(const ClassResults& results) {
    if (results.classes.empty()) {
        fmt::print("\nno results by class: the data has no labels\n");
        return;
    }
    std::size_t width = 5;
    for (const ClassResult& result : results.classes) width = std::max(width, result.name.size());
    fmt::print("\n{:<{}}  {:>9}  {:>9}  {:>9}  {:>8}\n", "class", width, "labels", "float", "quantized",
               "points");
    for (const ClassResult& result : results.classes)
        fmt::print("{:<{}}  {:>9}  {:>9}  {:>9}  {:>+8.2f}\n", result.name, width, result.labels,
                   percent(result.floating), percent(result.quantized), 100 * result.change());
}

constexpr std::size_t kMaxNameWidth = 100;  // of a column; longer names break the alignment

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

    fmt::print("\n{} by local sensitivity (QS): state; weight, local and cumulative QS; local SQNR\n",
               options.allLayers ? "all layers" : "worst layers");
    std::size_t width = 5;
    for (const LayerResult* layer : layers)
        width = std::max(width, std::min(nameWithModule(*layer).size(), kMaxNameWidth));
    for (const LayerResult* layer : layers) {
        fmt::print("  {:<{}}  {:<12} {:<10} {:>8} {:>8} {:>8}  {:>10}\n", nameWithModule(*layer), width,
                   shortName(layer->op), layerStateName(layer->state), qsOf(layer->weight),
                   qsOf(layer->local), qsOf(layer->cumulative),
                   layer->local ? decibels(layer->local->sqnrDb) : "-");
    }
    if (!options.metrics.elementwise) return;
    for (const auto& [what, member] :
         {std::pair{"local", &LayerResult::local}, {"cumulative", &LayerResult::cumulative}}) {
        fmt::print("\n{}\n  {:<{}}  {}\n", what, "", width, differenceHeader());
        for (const LayerResult* layer : layers)
            fmt::print("  {:<{}}  {}\n", nameWithModule(*layer), width, differenceRow(layer->*member));
    }
}

void printAnalysis(const Evaluation& result, const Options& options, const AnalysisExtras& extras) {
    fmt::print("{}: {} evaluated, {} used for calibration\n\n", options.model.filename().string(),
               counted(result.samples, result.randomInputs ? "random input" : "sample"),
               result.calibrationSamples);
    const bool graded = result.scores != nullptr;  // isGraded(), with labels
    if (!graded)
        fmt::print("{:<10} {:>9}  {:<14} {:>9}  {:>9}  {:>13}  {}\n", "", "top-1", "95 % interval", "top-5",
                   "agreement", "SQNR", "max |diff|");
    printAccuracy("float", result.floating, true);
    printAccuracy("prepared", result.prepared, false);
    printAccuracy("quantized", result.quantized, false);
    if (result.quantized)
        for (const OutputDifference& output : result.quantized->outputs)
            fmt::print("  output {}: SQNR {}\n", shortName(output.name), decibels(output.sqnrDb));
    if (result.randomInputs)
        fmt::print(
            "(random inputs: these numbers and the layers' activation metrics are meaningless; only the "
            "weight metrics are valid)\n");
    else if (const auto change = graded ? compareWithFloat(result) : std::nullopt)
        fmt::print("quantized against float: {}; 95 % interval {:+.2f} to {:+.2f} points\n",
                   describe(*change), 100 * change->low, 100 * change->high);
    else if (result.floating && !result.floating->top1 && options.task.task != Task::Regression)
        fmt::print("(no labels were compared{})\n", result.quantized && result.quantized->agreement
                                                        ? "; agreement is with the float model"
                                                        : "");

    const StateCounts& counts = result.counts;
    fmt::print("\nlayers: {} quantized, {} skipped, {} float, {} folded, {} fused\n", counts.quantized,
               counts.skipped, counts.floating, counts.folded, counts.fused);
    fmt::print(
        "transforms: {} batch norms folded, {} Clip(0, 6) replaced, {} groups equalized, outliers of {} "
        "inputs migrated\n",
        result.foldedBatchNorms, result.replacedClips, result.equalizationSets, result.migratedInputs);
    if (options.classes) printReadable(classResults(result));
    if (!extras.reasons.empty()) fmt::print("layer metrics: {}\n", describe(options.metrics));
    printLayers(result, options);

    const StageSeconds& s = result.seconds;
    fmt::print(
        "\nseconds: load {:.2f}, transform {:.2f}, calibrate {:.2f}, float {:.2f}, quantized {:.2f}, metrics "
        "{:.2f}, "
        "total {:.2f}\n",
        s.load, s.transform, s.calibrate, s.floating, s.quantized, s.metrics, s.total);

    if (!extras.path.empty()) fmt::print("\naccuracy loss by step:\n");
    for (const AccuracyStep& step : extras.path) printAccuracy(step.name.c_str(), step.accuracy, false, 22);
    printReadable(extras, options);
}

OrderedJson document(const Evaluation& result, const Options& options, const AnalysisExtras& extras) {
    OrderedJson json = {{"model", options.model.string()}};
    json.update(toJson(result));
    for (std::size_t l = 0; l < extras.reasons.size(); ++l)
        if (!extras.reasons[l].empty()) json["layers"][l]["metrics_reason"] = extras.reasons[l];
    addTo(json, extras, options);
    return json;
}

}  // namespace

void runAnalyze(const Options& options) {
    OpenedSession opened = openSession(options, {.randomInputs = true});
    ProgressLine progress;
    const EvaluationPtr evaluated =
        opened.session->evaluate(options.config, Depth::Metrics, progress.observer());
    // The session gets a loaded model, so its times do not include loading.
    Evaluation result = *evaluated;
    result.seconds.total += opened.loadSeconds - result.seconds.load;
    result.seconds.load = opened.loadSeconds;
    const AnalysisExtras extras = gatherExtras(*opened.session, options, result, progress.observer());
    progress.clear();
    for (const std::string& text : result.notices) notice(text);
    if (const LabelProblem problem = labelProblem(result); !problem.text.empty()) notice(problem.text);
    if (options.json)
        printJson(document(result, options, extras));
    else
        printAnalysis(result, options, extras);
}

}  // namespace quantloupe::cli
