// SPDX-License-Identifier: Apache-2.0
#include "interchange/reports/report_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "picture/picture_text.h"
#include "results/task_metric.h"

namespace quantloupe {
namespace {

constexpr double kWidth = 860, kLeft = 56, kRight = 16, kTop = 14, kBottom = 26;
constexpr const char *kGreen = "#2f8f4e", *kYellow = "#c9a227", *kRed = "#c0392b", *kBlue = "#2b6cb0",
                     *kInk = "#1c2430", *kLine = "#d5dbe3";

std::string text(double x, double y, const char* anchor, const char* color, const std::string& words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                       anchor, color, escapedXml(words));
}
std::string line(double x1, double y1, double x2, double y2, const char* color) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1,
                       y1, x2, y2, color);
}
std::string box(double x, double y, double width, double height, const char* color, const std::string& tip) {
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"{}\"><title>{}</title></rect>\n",
        x, y, width, height, color, escapedXml(tip));
}
std::string framed(double height, const std::string& label, const std::string& content) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" aria-label=\"{2}\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n{3}</svg>\n",
        kWidth, height, escapedXml(label), content);
}

/// An axis with round steps that covers the values: 0.6, 0.7, 0.8.
struct Axis {
    double low, high, step;
    Axis(double from, double to) {
        const double span = std::max(to - from, 1e-9), rough = span / 4,
                     power = std::pow(10, std::floor(std::log10(rough)));
        const double share = rough / power;
        step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
        low = std::floor(from / step + 1e-9) * step;
        high = std::max(low + step, std::ceil(to / step - 1e-9) * step);
    }
};

std::string grid(const Axis& axis, double height, double (*shown)(double), const char* unit) {
    std::string plot;
    const int lines = static_cast<int>(std::lround((axis.high - axis.low) / axis.step));
    for (int i = 0; i <= lines; ++i) {
        const double value = axis.low + i * axis.step,
                     y = height - kBottom - (height - kBottom - kTop) * i / lines;
        plot += line(kLeft, y, kWidth - kRight, y, kLine);
        plot += text(kLeft - 6, y + 4, "end", kInk,
                     fmt::format("{:.6g}{}", shown(value) == 0 ? 0.0 : shown(value), unit));
    }
    return plot;
}

double percentOf(double rate) { return std::round(rate * 1e6) / 1e4; }
double same(double value) { return value; }

}  // namespace

std::optional<double> plottedRate(const Accuracy& accuracy) {
    const auto rate = taskRate(accuracy);
    return rate ? std::optional(rate->value) : std::nullopt;
}
const char* plottedName(const Accuracy& accuracy) {
    const auto rate = taskRate(accuracy);
    return rate ? rate->title() : "";
}

std::string pathPlot(const std::vector<AccuracyStep>& path) {
    constexpr double kRow = 26, kNames = 190, kNumbers = 150;
    if (path.empty() || !plottedRate(path.back().accuracy)) return {};
    const double height = kRow * static_cast<double>(path.size()) + 8, span = kWidth - kNames - kNumbers;
    std::string plot;
    std::optional<double> before;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto rate = plottedRate(path[i].accuracy);
        const double y = kRow * static_cast<double>(i) + 4;
        plot += text(kNames - 8, y + 16, "end", kInk, path[i].name);
        if (!rate) continue;
        plot += box(kNames, y + 3, span * *rate, kRow - 8, i == 0 ? kBlue : kGreen,
                    fmt::format("{}: {:.2f} %", path[i].name, 100 * *rate));
        const bool lost = before && *rate < *before;
        if (lost)
            plot += box(kNames + span * *rate, y + 3, span * (*before - *rate), kRow - 8, kRed,
                        fmt::format("{:.2f} points lost", 100 * (*before - *rate)));
        std::string numbers = fmt::format("{:.2f} %", 100 * *rate);
        if (before) numbers += fmt::format("  ({:+.2f})", 100 * (*rate - *before));
        plot += text(kWidth - 4, y + 16, "end", lost ? kRed : kInk, numbers);
        before = rate;
    }
    return framed(height, "accuracy loss by step", plot);
}

std::string historyPlot(const std::vector<AccuracyStep>& history) {
    constexpr double kHeight = 220;
    std::vector<std::pair<double, const AccuracyStep*>> points;
    for (const AccuracyStep& step : history)
        if (const auto rate = plottedRate(step.accuracy)) points.push_back({*rate, &step});
    if (points.size() < 2) return {};
    const auto [least, most] = std::minmax_element(points.begin(), points.end());
    const Axis axis(least->first, most->first);
    const auto x = [&](std::size_t i) {
        return kLeft + (kWidth - kLeft - kRight) * (static_cast<double>(i) + 0.5) /
                           static_cast<double>(points.size());
    };
    const auto y = [&](double rate) {
        return kHeight - kBottom - (kHeight - kBottom - kTop) * (rate - axis.low) / (axis.high - axis.low);
    };
    std::string plot = grid(axis, kHeight, percentOf, " %"), curve;
    for (std::size_t i = 0; i < points.size(); ++i)
        curve += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", x(i), y(points[i].first));
    plot += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", curve,
                        kBlue);
    for (std::size_t i = 0; i < points.size(); ++i)
        plot += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"><title>{}</title></circle>\n", x(i),
            y(points[i].first), kBlue,
            escapedXml(
                fmt::format("{}. {}: {:.2f} %", i + 1, points[i].second->name, 100 * points[i].first)));
    plot += text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", kInk,
                 fmt::format("{} of the {} evaluated configurations, oldest first",
                             plottedName(points.back().second->accuracy), points.size()));
    return framed(kHeight, "accuracy history", plot);
}

std::string sensitivityPlot(const std::vector<LayerResult>& layers) {
    constexpr double kHeight = 240;
    std::vector<const LayerResult*> shown;
    double most = 0;
    for (const LayerResult& layer : layers) {
        if (!layer.local || !std::isfinite(layer.local->qs)) continue;
        shown.push_back(&layer);
        most = std::max(most, layer.local->qs);
        if (layer.cumulative && std::isfinite(layer.cumulative->qs))
            most = std::max(most, layer.cumulative->qs);
    }
    if (shown.empty() || most <= 0) return {};
    const Axis axis(0, most);
    const double each = (kWidth - kLeft - kRight) / static_cast<double>(shown.size());
    const auto y = [&](double qs) { return kHeight - kBottom - (kHeight - kBottom - kTop) * qs / axis.high; };
    std::string plot = grid(axis, kHeight, same, ""), curve;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const LayerResult& layer = *shown[i];
        const double x = kLeft + each * static_cast<double>(i);
        const bool skipped = layer.state != LayerState::Quantized;
        plot += box(x + 0.1 * each, y(layer.local->qs), 0.8 * each, kHeight - kBottom - y(layer.local->qs),
                    skipped ? kYellow : kGreen,
                    fmt::format("{}: local QS {:.4g}{}", layer.name, layer.local->qs,
                                skipped ? ", stays in float" : ""));
        if (layer.cumulative && std::isfinite(layer.cumulative->qs))
            curve += fmt::format("{}{:.1f},{:.1f}", curve.empty() ? "" : " ", x + each / 2,
                                 y(layer.cumulative->qs));
    }
    if (!curve.empty())
        plot += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
                            curve, kBlue);
    plot += text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", kInk,
                 "QS of the layers in graph order; bars: local (yellow: stays in float), line: cumulative");
    return framed(kHeight, "layer sensitivity", plot);
}

}  // namespace quantloupe
