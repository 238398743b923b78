// SPDX-License-Identifier: Apache-2.0
#include "analysis_extras.h"

#include <fmt/format.h>

#include "config/config_json.h"
#include "layer_report.h"
#include "open_session.h"
#include "sample_report.h"

namespace quantloupe::cli {
namespace {

const char* nameOf(QuantizedParts parts) {
    return parts == QuantizedParts::Weights       ? "weights"
           : parts == QuantizedParts::Activations ? "activations"
                                                  : "both";
}

const char* nameOf(MetricReference reference) {
    return reference == MetricReference::Source ? "source" : "prepared";
}

/// Replaces the layer metrics of the evaluation with those that the options request.
void measureAsRequested(Session& session, const Options& options, Evaluation& result, AnalysisExtras& extras,
                        const EvaluationObserver& observer) {
    extras.reasons.resize(result.layers.size());
    for (LayerResult& layer : result.layers) layer.local = layer.cumulative = std::nullopt;
    for (LayerMetrics& metrics : measureLayers(session, options.config, options.metrics, observer)) {
        LayerResult& layer = result.layers[metrics.node.index()];
        layer.local = std::move(metrics.local);
        layer.cumulative = std::move(metrics.cumulative);
        extras.reasons[metrics.node.index()] = std::move(metrics.reason);
    }
}

}  // namespace

AnalysisExtras gatherExtras(Session& session, const Options& options, Evaluation& result,
                            const EvaluationObserver& observer) {
    AnalysisExtras extras;
    const LayerMetricsOptions plain;
    if (options.metrics.elementwise || options.metrics.parts != plain.parts ||
        options.metrics.reference != plain.reference)
        measureAsRequested(session, options, result, extras, observer);
    if (options.path) extras.path = session.accuracyPath(options.config);
    if (options.layer) extras.layer = layerDetails(session, options.config, *options.layer, options.bins);
    if (options.images) extras.images = flippedSamples(session, options.config);
    if (options.image)
        extras.image = sampleDivergence(session, options.config, findSample(session, *options.image));
    if (!options.against.empty())
        extras.against = compareConfigs(session, loadConfig(options.against), options.config, observer);
    if (!options.metricProgram.empty())
        extras.userMetric = measureUserMetric(session, options.config, ownMetric(options));
    return extras;
}

std::string describe(const LayerMetricsOptions& metrics) {
    return fmt::format("{} quantized, against the {} float network",
                       metrics.parts == QuantizedParts::Both ? "weights and activations"
                                                             : fmt::format("only {}", nameOf(metrics.parts)),
                       nameOf(metrics.reference));
}

void addTo(OrderedJson& json, const AnalysisExtras& extras, const Options& options) {
    if (!extras.reasons.empty())
        json["layer_metrics"] = {{"only", nameOf(options.metrics.parts)},
                                 {"reference", nameOf(options.metrics.reference)}};
    for (const AccuracyStep& step : extras.path) {
        OrderedJson entry = toJson(step.accuracy, Role::Quantized);
        entry["step"] = step.name;
        json["path"].push_back(std::move(entry));
    }
    if (extras.userMetric)
        json["metric_program"] = {{"program", options.metricProgram.string()},
                                  {"float", extras.userMetric->floating},
                                  {"quantized", extras.userMetric->quantized}};
    if (extras.against) {
        json["against"] = toJson(*extras.against);
        json["against"]["config"] = options.against.string();
    }
    if (extras.images) json["images"] = toJson(*extras.images);
    if (extras.image) json["image"] = toJson(*extras.image);
    if (extras.layer) json["layer"] = toJson(*extras.layer);
}

void printReadable(const AnalysisExtras& extras, const Options& options) {
    if (extras.userMetric)
        fmt::print("\n{}: float {}, quantized {}\n", options.metricProgram.filename().string(),
                   extras.userMetric->floating, extras.userMetric->quantized);
    if (extras.against) printReadable(*extras.against, options.against.string());
    if (extras.images) printReadable(*extras.images);
    if (extras.image) printReadable(*extras.image);
    if (extras.layer) printReadable(*extras.layer, options.worst);
}

}  // namespace quantloupe::cli
