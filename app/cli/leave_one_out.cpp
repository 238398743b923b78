// SPDX-License-Identifier: Apache-2.0
#include "leave_one_out.h"

#include "base/error.h"
#include "config/layer_choices.h"

namespace quantloupe::cli {
namespace {

double metricOf(const Accuracy& accuracy, const std::string& metric) {
    const auto& value = metric == "top1"        ? accuracy.top1
                        : metric == "agreement" ? accuracy.agreement
                                                : accuracy.sqnrDb;
    return value.value_or(0.0);
}

}  // namespace

LeaveOneOut leaveOneOut(Session& session, const QuantizationConfig& config,
                        const EvaluationObserver& observer) {
    const EvaluationPtr base = session.evaluate(config, Depth::Accuracy, observer);
    if (!base->quantized) failInput("there is no data to evaluate on");
    LeaveOneOut result;
    result.metric = base->quantized->top1 ? "top1" : base->quantized->agreement ? "agreement" : "sqnr_db";
    result.baseline = metricOf(*base->quantized, result.metric);
    for (const LayerResult& layer : base->layers) {
        if (layer.state != LayerState::Quantized) continue;
        const EvaluationPtr without =
            session.evaluate(withLayersSkipped(config, {layer.name}), Depth::Accuracy, observer);
        const double value = metricOf(*without->quantized, result.metric);
        result.layers.push_back({layer.node, layer.name, value, value - result.baseline});
    }
    return result;
}

}  // namespace quantloupe::cli
