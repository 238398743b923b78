// SPDX-License-Identifier: Apache-2.0
#include "analysis/task_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace quantloupe {
namespace {

std::optional<double> rate(std::size_t hits, std::size_t samples) {
    if (samples == 0) return std::nullopt;
    return static_cast<double>(hits) / static_cast<double>(samples);
}

}  // namespace

SampleVerdict judge(const float* outputs, std::size_t scores, std::optional<int> label, float threshold) {
    SampleVerdict verdict;
    if (scores == 0) return verdict;
    if (scores == 1) {
        if (std::isnan(*outputs)) return verdict;
        verdict.predicted = *outputs > threshold ? 1 : 0;
        verdict.top5 = label && (*label == 0 || *label == 1);  // both classes are among the five largest
        return verdict;
    }
    std::size_t best = 0;
    for (std::size_t c = 1; c < scores; ++c)
        if (outputs[c] > outputs[best] || (std::isnan(outputs[best]) && !std::isnan(outputs[c]))) best = c;
    if (!std::isnan(outputs[best])) verdict.predicted = static_cast<std::int32_t>(best);
    if (!label || *label < 0 || static_cast<std::size_t>(*label) >= scores) return verdict;
    const auto expected = static_cast<std::size_t>(*label);
    std::size_t ahead = 0;
    for (std::size_t c = 0; c < scores; ++c)
        if (outputs[c] > outputs[expected] || (outputs[c] == outputs[expected] && c < expected)) ++ahead;
    verdict.top5 = ahead < 5 && !std::isnan(outputs[expected]);
    return verdict;
}

void TaskCounts::add(const SampleVerdict& verdict, std::int32_t floating, std::optional<int> label) {
    ++samples;
    if (verdict.predicted == floating) ++agreeing;
    if (!label) return;
    ++labeled;
    if (verdict.predicted == *label) ++top1;
    if (verdict.top5) ++top5;
}

std::optional<double> TaskCounts::top1Rate() const { return rate(top1, labeled); }
std::optional<double> TaskCounts::top5Rate() const { return rate(top5, labeled); }
std::optional<double> TaskCounts::agreement() const { return rate(agreeing, samples); }

RateInterval wilsonInterval(std::size_t hits, std::size_t samples) {
    if (samples == 0) return {0, 1};
    constexpr double z = 1.959963984540054;  // 97.5 % quantile of the normal distribution
    const auto n = static_cast<double>(samples);
    const double p = static_cast<double>(hits) / n;
    const double center = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    return {std::max(0.0, center - half), std::min(1.0, center + half)};
}

ImageQuality imageQuality(const DifferenceSums& outputs, double peak) {
    if (!(peak > 0)) failInput("the peak of a PSNR must be above 0, not {}", peak);
    ImageQuality quality;
    if (outputs.count > 0) quality.mse = outputs.squaredDifference / static_cast<double>(outputs.count);
    quality.psnrDb = quality.mse == 0 ? std::numeric_limits<double>::infinity()
                                      : 10 * std::log10(peak * peak / quality.mse);
    return quality;
}

}  // namespace quantloupe
