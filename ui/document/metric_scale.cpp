// SPDX-License-Identifier: Apache-2.0
// The scale of a metric: positions of values between the best and the worst layer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "document/metric.h"

namespace quantloupe::ui {

namespace {

/// A logarithmic scale for a cosine uses its distance from 1.
double badness(Metric metric, double value) { return metric == Metric::Cosine ? 1 - value : value; }
double fromBadness(Metric metric, double value) { return metric == Metric::Cosine ? 1 - value : value; }

bool lowIsBad(Metric metric) {
    return metric == Metric::Sqnr || metric == Metric::Cosine || metric == Metric::Bits;
}

double along(const MetricScale& scale, double value, double from, double to) {
    if (std::isnan(value) || from == to) return 0;
    if (std::isinf(value)) return (value > 0) == (to > from) ? 1 : 0;
    if (scale.logarithmic) {
        value = badness(scale.metric, value), from = badness(scale.metric, from),
        to = badness(scale.metric, to);
        if (!(from > 0) || !(to > 0) || from == to) return value > 0 ? 1 : 0;
        if (!(value > 0)) return 0;
        value = std::log(value), from = std::log(from), to = std::log(to);
    }
    return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

}  // namespace

double MetricScale::position(double value) const { return along(*this, value, best, worst); }
double MetricScale::axisPosition(double value) const { return along(*this, value, fullBest, fullWorst); }

double MetricScale::axisValue(double position) const {
    if (!logarithmic) return fullBest + position * (fullWorst - fullBest);
    const double from = badness(metric, fullBest), to = badness(metric, fullWorst);
    return fromBadness(metric, from * std::pow(to / from, position));
}

bool canBeLogarithmic(Metric metric) {
    switch (metric) {
        case Metric::LocalQs:
        case Metric::CumulativeQs:
        case Metric::WeightQs:
        case Metric::Cosine:
        case Metric::RangeRatio:
        case Metric::Macs:
        case Metric::Latency:
            return true;
        case Metric::None:
        case Metric::LeaveOneOut:
        case Metric::Sqnr:
        case Metric::Bits:
        case Metric::Difference:
            return false;
    }
    return false;
}

MetricScale scaleOf(std::span<const std::optional<double>> all, Metric metric, const ScaleChoice& choice) {
    constexpr std::size_t kEnough = 12;  // with fewer values, all of them are used
    MetricScale scale;
    scale.metric = metric;
    scale.diverging = metric == Metric::Difference;
    std::vector<double> values;
    for (const auto& value : all)
        if (value && std::isfinite(*value)) values.push_back(*value);
    scale.any = !values.empty();
    if (!scale.any) return scale;
    const auto [least, most] = std::ranges::minmax(values);
    scale.logarithmic = canBeLogarithmic(metric) && choice.logarithmic.value_or(metric == Metric::RangeRatio);
    if (scale.diverging) {
        const double reach = std::max({std::abs(least), std::abs(most), 1e-9});
        scale.best = -reach, scale.worst = reach;
    } else if (lowIsBad(metric)) {
        scale.best = metric == Metric::Cosine ? 1 : most;
        scale.worst = least;
        if (scale.best == scale.worst && metric == Metric::Cosine) scale.worst = 0.999;
    } else {
        scale.best = metric == Metric::RangeRatio ? 1 : 0;
        scale.worst = most > scale.best ? most : scale.best + 1;
    }
    if (scale.logarithmic && metric != Metric::RangeRatio) {
        double start = std::numeric_limits<double>::infinity();
        for (const double value : values)
            if (badness(metric, value) > 0) start = std::min(start, badness(metric, value));
        if (std::isfinite(start) && start < badness(metric, scale.worst))
            scale.best = fromBadness(metric, start);
        else
            scale.logarithmic = false;  // all values are equal
    }
    scale.fullBest = scale.best, scale.fullWorst = scale.worst;
    // One broken layer must not make all others look alike.
    if (!lowIsBad(metric) && !scale.logarithmic && !scale.diverging) {
        const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 95 / 100);
        std::ranges::nth_element(values, upper);
        const double high = *upper * 1.25;
        if (values.size() >= kEnough && high > 0 && most > 2 * high) {
            scale.worst = high;
            scale.clipped = true;
        }
    }
    const auto inside = [&](double value) {
        return std::clamp(value, std::min(scale.fullBest, scale.fullWorst),
                          std::max(scale.fullBest, scale.fullWorst));
    };
    if (choice.best) scale.best = inside(*choice.best);
    if (choice.worst) {
        scale.worst = inside(*choice.worst);
        scale.clipped = scale.worst != scale.fullWorst;
    }
    if (scale.diverging && choice.worst) scale.best = -scale.worst;  // 0 stays in the middle
    return scale;
}

MetricScale scaleOf(const std::vector<LayerResult>& layers, Metric metric) {
    std::vector<std::optional<double>> values;
    values.reserve(layers.size());
    for (const LayerResult& layer : layers) values.push_back(metricValue(layer, metric));
    return scaleOf(values, metric);
}

}  // namespace quantloupe::ui
