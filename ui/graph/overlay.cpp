// SPDX-License-Identifier: Apache-2.0
#include "graph/overlay.h"

#include <cmath>

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
        return QStringLiteral("it is folded into %1 and has no output of its own").arg(QString::fromStdString(layer.host));
    if (layer.state == LayerState::Fused)
        return QStringLiteral("it runs inside %1, whose output is measured").arg(QString::fromStdString(layer.host));
    if (!layer.quantizable)
        return layer.reason.empty() ? QStringLiteral("it stays in float") : QString::fromStdString(layer.reason);
    if (!document.data()) return QStringLiteral("it needs data: open images or arrays");
    if (document.evaluating()) return QStringLiteral("it is being measured");
    return QStringLiteral("it was not measured");
}

}  // namespace

Overlay overlayOf(const Document& document, const LayerReference& reference, Metric metric, const ScaleChoice& choice) {
    Overlay overlay;
    overlay.metric = metric;
    const auto* before = metric == Metric::Difference ? reference.layers() : nullptr;
    overlay.values.reserve(document.layers().size());
    for (const LayerResult& layer : document.layers())
        overlay.values.push_back(metric == Metric::Difference ? difference(layer, before) : metricValue(layer, metric));
    overlay.scale = scaleOf(overlay.values, metric, choice);
    return overlay;
}

QString whyNoValue(const Document& document, const LayerReference& reference, NodeId id, Metric metric) {
    const LayerResult* layer = document.layer(id);
    if (!layer) return QStringLiteral("nothing is known of the layer yet");
    switch (metric) {
        case Metric::None:
            return {};
        case Metric::LocalQs:
        case Metric::Cosine:
        case Metric::Sqnr:
            if (layer->local)
                return metric == Metric::Cosine && std::isnan(layer->local->cosine)
                           ? QStringLiteral("exactly one of the two outputs is all zeros")
                           : QString();
            return whyNotMeasured(document, *layer);
        case Metric::CumulativeQs:
            return layer->cumulative ? QString() : whyNotMeasured(document, *layer);
        case Metric::LeaveOneOut:
            if (layer->leaveOneOut) return {};
            if (layer->state == LayerState::Skipped) return QStringLiteral("it is in float already");
            if (layer->state == LayerState::Quantized && document.data())
                return QStringLiteral("it is measured while nothing else is to be done (View menu)");
            return whyNotMeasured(document, *layer);
        case Metric::WeightQs:
            if (layer->weight) return {};
            return QStringLiteral("it has no constant weight that could be quantized");
        case Metric::RangeRatio:
            if (layer->weightRangeRatio) return {};
            return QStringLiteral("it has no constant weight with channels");
        case Metric::Bits:
            if (metricValue(*layer, metric)) return {};
            if (layer->state == LayerState::Skipped) return QStringLiteral("it is kept in 32-bit float");
            return whyNotMeasured(document, *layer);
        case Metric::Macs:
            if (layer->macs > 0) return {};
            return QStringLiteral("it multiplies nothing, or its shapes are not known");
        case Metric::Difference:
            if (!reference.layers()) {
                return document.history().baselineEntry()
                           ? QStringLiteral("the baseline was not measured in this window: go back to it once")
                           : QStringLiteral("only one configuration was measured yet");
            }
            if (difference(*layer, reference.layers())) return {};
            if (!layer->cumulative) return whyNotMeasured(document, *layer);
            return QStringLiteral("it was not measured with %1").arg(reference.name());
    }
    return {};
}

}  // namespace quantloupe::ui
