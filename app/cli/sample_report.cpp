// SPDX-License-Identifier: Apache-2.0
#include "sample_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/class_results.h"
#include "analysis/task_metrics.h"
#include "base/short_text.h"
#include "readable.h"
#include "results/task_metric.h"

namespace quantloupe::cli {
namespace {

const char* nameOf(FlippedSample::Kind kind) {
    switch (kind) {
        case FlippedSample::Kind::Broken:
            return "broken";
        case FlippedSample::Kind::Fixed:
            return "fixed";
        case FlippedSample::Kind::Other:
            return "other";
    }
    return "other";
}

const char* nameOf(DivergenceKind kind) {
    switch (kind) {
        case DivergenceKind::Jump:
            return "jump";
        case DivergenceKind::Drift:
            return "drift";
        case DivergenceKind::NotFinite:
            return "not_finite";
    }
    return "jump";
}

const char* nameOf(ChangeVerdict verdict) {
    switch (verdict) {
        case ChangeVerdict::NoChange:
            return "no_change";
        case ChangeVerdict::WithinNoise:
            return "within_noise";
        case ChangeVerdict::Gain:
            return "gain";
        case ChangeVerdict::Loss:
            return "loss";
    }
    return "no_change";
}

OrderedJson partOf(const std::optional<std::int32_t>& index) {
    return index && *index != kNoClass ? OrderedJson(*index) : OrderedJson(nullptr);
}

OrderedJson partOf(const std::vector<SampleId>& samples) {
    OrderedJson list = OrderedJson::array();
    for (const SampleId& sample : samples) list.push_back({{"index", sample.index}, {"name", sample.name}});
    return list;
}

void printSamples(const char* what, const std::vector<SampleId>& samples) {
    for (const SampleId& sample : samples)
        fmt::print("  {:<7} {:>6}  {}\n", what, sample.index, shortName(sample.name));
}

}  // namespace

OrderedJson toJson(const FlippedSamples& flipped) {
    OrderedJson list = OrderedJson::array();
    for (const FlippedSample& flip : flipped.samples) {
        if (flip.floatScore) {
            list.push_back({{"index", flip.sample.index},
                            {"name", flip.sample.name},
                            {"change", nameOf(flip.kind)},
                            {"float_score", *flip.floatScore},
                            {"quantized_score", *flip.quantizedScore}});
            continue;
        }
        list.push_back({{"index", flip.sample.index},
                        {"name", flip.sample.name},
                        {"change", nameOf(flip.kind)},
                        {"wanted", partOf(flip.label)},
                        {"float", partOf(flip.floating)},
                        {"quantized", partOf(flip.quantized)}});
    }
    OrderedJson json = {{"flipped", std::move(list)}, {"evaluated", flipped.evaluated}};
    if (!flipped.classNames.empty()) json["class_names"] = flipped.classNames;
    return json;
}

namespace {

void printScores(const FlippedSamples& changed) {
    fmt::print("\nthe score of {} of {} samples changed, largest loss first:\n", changed.samples.size(),
               changed.evaluated);
    fmt::print("  {:>6}  {:>9}  {:>9}  {}\n", "", "float", "quantized", "name");
    for (const FlippedSample& sample : changed.samples)
        fmt::print("  {:>6}  {:>9}  {:>9}  {}\n", sample.sample.index, percent(sample.floatScore),
                   percent(sample.quantizedScore), sample.sample.name);
}

}  // namespace

void printReadable(const FlippedSamples& flipped) {
    if (!flipped.samples.empty() && flipped.samples.front().floatScore) return printScores(flipped);
    const auto name = [&](const std::optional<std::int32_t>& index) {
        return index ? classNameOf(flipped.classNames, *index) : std::string("-");
    };
    const auto count = [&](FlippedSample::Kind kind) {
        return std::count_if(flipped.samples.begin(), flipped.samples.end(),
                             [&](const auto& s) { return s.kind == kind; });
    };
    fmt::print("\n{} of {} samples changed their predicted class: {} broken, {} fixed, {} other\n",
               flipped.samples.size(), flipped.evaluated, count(FlippedSample::Kind::Broken),
               count(FlippedSample::Kind::Fixed), count(FlippedSample::Kind::Other));
    if (flipped.samples.empty()) return;
    std::size_t width = 4, classes = 9;
    for (const FlippedSample& flip : flipped.samples) {
        width = std::max(width, flip.sample.name.size());
        for (const auto& text : {name(flip.label), name(flip.floating), name(flip.quantized)})
            classes = std::max(classes, text.size());
    }
    const auto row = [&](const auto& index, const auto& sample, const auto& change, const auto& label,
                         const auto& floating, const auto& quantized) {
        fmt::print("  {:>6}  {:<{}}  {:<7} {:<{}} {:<{}} {}\n", index, sample, width, change, label, classes,
                   floating, classes, quantized);
    };
    row("", "name", "", "label", "float", "quantized");
    for (const FlippedSample& flip : flipped.samples)
        row(flip.sample.index, flip.sample.name, nameOf(flip.kind), name(flip.label), name(flip.floating),
            name(flip.quantized));
}

OrderedJson toJson(const SampleDivergence& divergence) {
    OrderedJson json = {{"index", divergence.sample.index},
                        {"name", divergence.sample.name},
                        {"wanted", partOf(divergence.label)},
                        {"float", partOf(divergence.floating)},
                        {"quantized", partOf(divergence.quantized)},
                        {"first_divergence", nullptr},
                        {"text", describe(divergence)},
                        {"layers", OrderedJson::array()}};
    if (const auto& first = divergence.first) {
        OrderedJson object = {{"name", divergence.layers[first->layer].name}, {"kind", nameOf(first->kind)}};
        setNumber(object, "qs", first->error, "not measured");
        object["largest_before"] = first->largestBefore;
        json["first_divergence"] = std::move(object);
    }
    for (const SampleDivergence::Layer& layer : divergence.layers) {
        OrderedJson entry = {{"name", layer.name}, {"op", layer.op}, {"state", layerStateName(layer.state)}};
        entry["cumulative"] = toJson(layer.difference);
        json["layers"].push_back(std::move(entry));
    }
    return json;
}

void printReadable(const SampleDivergence& divergence) {
    fmt::print("\nsample {}, {}", divergence.sample.index, shortName(divergence.sample.name));
    if (divergence.floating && divergence.quantized)
        fmt::print(": class {} in float, {} quantized{}", *divergence.floating, *divergence.quantized,
                   divergence.label ? fmt::format(", label {}", *divergence.label) : "");
    fmt::print("\n{}\n", describe(divergence));
    std::size_t width = 5;
    double largest = 0;
    for (const auto& layer : divergence.layers) {
        width = std::max(width, std::min<std::size_t>(layer.name.size(), 100));
        if (layer.difference.qs < 1e9) largest = std::max(largest, layer.difference.qs);
    }
    for (std::size_t l = 0; l < divergence.layers.size(); ++l) {
        const auto& layer = divergence.layers[l];
        const bool first = divergence.first && divergence.first->layer == l;
        constexpr double kLongest = 40;
        const double share = largest > 0 && layer.difference.qs < 1e9 ? layer.difference.qs / largest : 0;
        fmt::print("{} {:<{}}  {:<10} {:>8}  {}\n", first ? ">" : " ", shortName(layer.name), width,
                   layerStateName(layer.state), qsOf(layer.difference),
                   std::string(static_cast<std::size_t>(std::lround(share * kLongest)), '*'));
    }
}

OrderedJson toJson(const ConfigComparison& comparison) {
    OrderedJson json = {{"text", comparison.text}};
    json["before"] = toJson(comparison.before->quantized, Role::Quantized);
    json["after"] = toJson(comparison.after->quantized, Role::Quantized);
    if (comparison.sqnrGain) json["sqnr_gain_db"] = *comparison.sqnrGain;
    if (!comparison.paired) return json;
    const PairedComparison& paired = *comparison.paired;
    json["metric"] = taskRate(*comparison.after->quantized)->name();
    json["difference"] = paired.difference;
    json["interval"] = {paired.low, paired.high};
    json["p_value"] = paired.pValue;
    json["verdict"] = nameOf(paired.verdict);
    json["samples"] = paired.samples;
    json["fixed"] = partOf(comparison.fixed);
    json["broken"] = partOf(comparison.broken);
    return json;
}

void printReadable(const ConfigComparison& comparison, const std::string& against) {
    fmt::print("\ncompared with {}: {}\n", against, comparison.text);
    if (!comparison.paired) return;
    const PairedComparison& paired = *comparison.paired;
    const auto rate = [](const EvaluationPtr& e) { return percent(taskRate(*e->quantized)->value); };
    fmt::print(
        "  {}: {} before, {} now; difference {:+.2f} points, 95 % interval {:+.2f} to {:+.2f}, p = {:.3g}\n",
        taskRate(*comparison.after->quantized)->title(), rate(comparison.before), rate(comparison.after),
        paired.difference * 100, paired.low * 100, paired.high * 100, paired.pValue);
    printSamples(paired.graded ? "better" : "fixed", comparison.fixed);
    printSamples(paired.graded ? "worse" : "broken", comparison.broken);
}

}  // namespace quantloupe::cli
