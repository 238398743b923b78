// SPDX-License-Identifier: Apache-2.0
#include "graph/overlay.h"

#include <cmath>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

std::optional<double> difference(const LayerResult& now, const std::vector<LayerResult>* before) {
    if (!before || !now.node.valid() || now.node.index() >= before->size()) return std::nullopt;
    const LayerResult& then = (*before)[now.node.index()];
    if (!now.cumulative || !then.cumulative) return std::nullopt;
    const double value = now.cumulative->qs - then.cumulative->qs;
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

QString whyNotMeasured(const Document& document, const LayerResult& layer) {
    if (layer.state == LayerState::Folded)
        return Words::tr("it is folded into %1 and has no output of its own")
            .arg(QString::fromStdString(layer.host));
    if (layer.state == LayerState::Fused)
        return Words::tr("it is fused into %1, whose output is evaluated")
            .arg(QString::fromStdString(layer.host));
    if (!layer.quantizable)
        return layer.reason.empty() ? Words::tr("it stays in float") : QString::fromStdString(layer.reason);
    if (!document.data()) return Words::tr("data is required: open images or arrays");
    if (document.evaluating()) return Words::tr("it is being evaluated");
    return Words::tr("it was not evaluated");
}

}  // namespace

Overlay overlayOf(const Document& document, const std::vector<LayerResult>& layers, Metric metric,
                  const ScaleChoice& choice) {
    const std::vector<LayerResult>* before = document.reference().layers();
    Overlay overlay;
    overlay.metric = metric;
    overlay.values.reserve(layers.size());
    for (const LayerResult& layer : layers) {
        if (metric == Metric::Latency) {
            const auto cell = document.latency().of(layer);
            overlay.values.push_back(cell ? std::optional(cell->ms) : std::nullopt);
            overlay.estimated.push_back(cell && cell->estimated);
        } else {
            overlay.values.push_back(metric == Metric::Difference ? difference(layer, before)
                                                                  : metricValue(layer, metric));
        }
    }
    overlay.scale = scaleOf(overlay.values, metric, choice);
    overlay.scale.gainMetric = document.gainMetric();
    return overlay;
}

QString whyNoValue(const Document& document, const LayerResult* layer, Metric metric) {
    if (!layer) return Words::tr("there are no results for this layer yet");
    const LayerReference& reference = document.reference();
    switch (metric) {
        case Metric::None:
            return {};
        case Metric::LocalQs:
        case Metric::Cosine:
        case Metric::Sqnr:
            if (layer->local)
                return metric == Metric::Cosine && std::isnan(layer->local->cosine)
                           ? Words::tr("exactly one of the two outputs is all zeros")
                           : QString();
            return whyNotMeasured(document, *layer);
        case Metric::CumulativeQs:
            return layer->cumulative ? QString() : whyNotMeasured(document, *layer);
        case Metric::LeaveOneOut:
            if (layer->leaveOneOut) return {};
            if (layer->state == LayerState::Skipped) return Words::tr("it is already in float");
            if (layer->state == LayerState::Quantized && document.data())
                return Words::tr("it is evaluated in the background when idle (View, Settings)");
            return whyNotMeasured(document, *layer);
        case Metric::WeightQs:
            if (layer->weight) return {};
            return Words::tr("it has no constant weight that could be quantized");
        case Metric::RangeRatio:
            if (layer->weightRangeRatio) return {};
            return Words::tr("it has no constant weight with channels");
        case Metric::Bits:
            if (metricValue(*layer, metric)) return {};
            return whyNotMeasured(document, *layer);
        case Metric::Macs:
            if (layer->macs > 0) return {};
            if (!layer->macsReason.empty()) return QString::fromStdString(layer->macsReason);
            return Words::tr("it has no MACs");
        case Metric::Difference:
            if (!reference.layers()) return reference.whyNone();
            if (difference(*layer, reference.layers())) return {};
            if (!layer->cumulative) return whyNotMeasured(document, *layer);
            return Words::tr("it was not evaluated in %1").arg(reference.name());
        case Metric::Latency:
            if (document.latency().of(*layer)) return {};
            if (document.latency().sources().empty())
                return Words::tr("there is no latency profile: import or measure one (Evaluation menu)");
            if (!document.latency().table()) return Words::tr("the profiles are read after the evaluation");
            return Words::tr("%1 computes it").arg(QString::fromStdString(layer->host));
    }
    return {};
}

}  // namespace quantloupe::ui
