// SPDX-License-Identifier: Apache-2.0
#include "models/metric.h"

#include <algorithm>
#include <cmath>

namespace quantloupe::ui {

namespace {

const QString kMinus = QStringLiteral("\u2212");
const QString kThinSpace = QStringLiteral("\u202f");

QString number(double value, int digits) {
    QString text = QString::number(std::abs(value), 'f', digits);
    return value < 0 && text.toDouble() != 0 ? kMinus + text : text;
}

}  // namespace

QString metricName(Metric metric) {
    switch (metric) {
        case Metric::None:
            return QStringLiteral("State");
        case Metric::LocalQs:
            return QStringLiteral("QS local");
        case Metric::CumulativeQs:
            return QStringLiteral("QS cumulative");
        case Metric::WeightQs:
            return QStringLiteral("QS weight");
        case Metric::LeaveOneOut:
            return QStringLiteral("Leave-one-out");
        case Metric::Sqnr:
            return QStringLiteral("SQNR");
        case Metric::Macs:
            return QStringLiteral("MACs");
    }
    return {};
}

QString metricMeaning(Metric metric) {
    switch (metric) {
        case Metric::None:
            return QStringLiteral("What becomes of each layer, without a number");
        case Metric::LocalQs:
            return QStringLiteral(
                "Quantization sensitivity with only this layer quantized: relative error of its output, "
                "0 is none");
        case Metric::CumulativeQs:
            return QStringLiteral(
                "Quantization sensitivity with the whole network quantized: relative error that has "
                "gathered up to this layer");
        case Metric::WeightQs:
            return QStringLiteral("Relative error of the layer's weight alone: needs no data");
        case Metric::LeaveOneOut:
            return QStringLiteral(
                "What the accuracy regains, in points, if this layer alone is kept in float; measured while "
                "nothing else is to be done");
        case Metric::Sqnr:
            return QStringLiteral(
                "Signal to quantization noise with only this layer quantized, in decibels; low is bad");
        case Metric::Macs:
            return QStringLiteral("Multiplications and additions an image");
    }
    return {};
}

std::optional<double> metricValue(const LayerResult& layer, Metric metric) {
    switch (metric) {
        case Metric::None:
            break;
        case Metric::LocalQs:
            if (layer.local) return layer.local->qs;
            break;
        case Metric::CumulativeQs:
            if (layer.cumulative) return layer.cumulative->qs;
            break;
        case Metric::WeightQs:
            if (layer.weight) return layer.weight->qs;
            break;
        case Metric::LeaveOneOut:
            return layer.leaveOneOut;
        case Metric::Sqnr:
            if (layer.local) return layer.local->sqnrDb;
            break;
        case Metric::Macs:
            if (layer.macs > 0) return static_cast<double>(layer.macs);
            break;
    }
    return std::nullopt;
}

QString formatMetric(double value, Metric metric) {
    switch (metric) {
        case Metric::None:
            return {};
        case Metric::LocalQs:
        case Metric::CumulativeQs:
        case Metric::WeightQs:
            return formatQs(value);
        case Metric::LeaveOneOut:
            return formatPoints(value);
        case Metric::Sqnr:
            return formatDecibel(value);
        case Metric::Macs:
            return formatCount(static_cast<std::uint64_t>(value));
    }
    return {};
}

QString formatMetricDifference(double value, double baseline, Metric metric) {
    if (!std::isfinite(value) || !std::isfinite(baseline)) return {};
    if (metric == Metric::LeaveOneOut) return formatPoints(value - baseline);
    const QString text = number(value - baseline, metric == Metric::Sqnr ? 1 : 3);
    return text.startsWith(kMinus) ? text : QLatin1Char('+') + text;
}

double MetricScale::position(double value) const {
    if (std::isnan(value) || worst == best) return 0;
    if (std::isinf(value)) return (value > 0) == (worst > best) ? 1 : 0;
    return std::clamp((value - best) / (worst - best), 0.0, 1.0);
}

MetricScale scaleOf(const std::vector<LayerResult>& layers, Metric metric) {
    constexpr std::size_t kEnough = 12;  // below this every value counts
    MetricScale scale;
    scale.metric = metric;
    std::vector<double> values;
    for (const LayerResult& layer : layers) {
        const auto value = metricValue(layer, metric);
        if (value && std::isfinite(*value)) values.push_back(*value);
    }
    scale.any = !values.empty();
    if (!scale.any) return scale;
    std::ranges::sort(values);
    if (metric == Metric::Sqnr) {  // much is good
        scale.best = values.back(), scale.worst = values.front();
        return scale;
    }
    scale.best = 0;
    scale.worst = values.back() > 0 ? values.back() : 1;
    // One broken layer must not make all others look alike.
    const double high = values[values.size() * 95 / 100] * 1.25;
    if (values.size() >= kEnough && high > 0 && values.back() > 2 * high) {
        scale.worst = high;
        scale.clipped = true;
    }
    return scale;
}

QString formatQs(double value) {
    if (std::isinf(value)) return QStringLiteral("\u221e");
    if (std::isnan(value)) return QStringLiteral("\u2013");
    return QString::number(value, 'f', value >= 100 ? 0 : value >= 10 ? 1 : 3);
}

QString formatDecibel(double value) {
    if (std::isinf(value)) return (value < 0 ? kMinus : QString()) + QStringLiteral("\u221e dB");
    if (std::isnan(value)) return QStringLiteral("\u2013");
    return number(value, 1) + QStringLiteral(" dB");
}

QString formatCount(std::uint64_t count) {
    const auto value = static_cast<double>(count);
    if (count >= 1'000'000'000) return QString::number(value / 1e9, 'f', 2) + QStringLiteral(" G");
    if (count >= 1'000'000)
        return QString::number(value / 1e6, 'f', count >= 100'000'000 ? 0 : 1) + QStringLiteral(" M");
    if (count >= 10'000) return QString::number(value / 1e3, 'f', 1) + QStringLiteral(" k");
    QString text = QString::number(count);
    if (text.size() > 3) text.insert(text.size() - 3, QLatin1Char(','));
    return text;
}

QString formatRate(double rate) {
    return QString::number(rate * 100, 'f', 1) + kThinSpace + QLatin1Char('%');
}

QString formatPoints(double rate) {
    const QString text = number(rate * 100, 1);
    return text.startsWith(kMinus) ? text : QLatin1Char('+') + text;
}

QString formatSeconds(double seconds) {
    if (seconds < 1) return QString::number(std::lround(seconds * 1000)) + QStringLiteral(" ms");
    return QString::number(seconds, 'f', seconds < 10 ? 2 : 1) + QStringLiteral(" s");
}

QString stateText(LayerState state) {
    switch (state) {
        case LayerState::Quantized:
            return QStringLiteral("quantized");
        case LayerState::Skipped:
            return QStringLiteral("skipped");
        case LayerState::Float:
            return QStringLiteral("float");
        case LayerState::Folded:
            return QStringLiteral("folded");
        case LayerState::Fused:
            return QStringLiteral("fused");
    }
    return {};
}

}  // namespace quantloupe::ui
