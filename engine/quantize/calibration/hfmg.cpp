// SPDX-License-Identifier: Apache-2.0
// HFMG, AMCT's histogram calibration. Cuts bins off both ends of the histogram, the emptier side first, and
// chooses the window of remaining bins with the smallest expected squared error.
//
// - Candidates: starting from the full window (which is not a candidate), each round finds how many bins on
//   the left and on the right contain the next ceil(N / 100000) values, and cuts off the side with more bins
//   (the right one if equal), until a quarter of the bins is left.
// - Loss: the window is divided into 2^bits equal target bins. Values are assumed to be uniform within their
//   source bin, and their squared distance from the center of the target bin is integrated. Values outside
//   the window belong to the nearest target bin.
//
// The quantizer has the ordinary scale of the window's range (amct_scale.h). Source: Huawei AMCT (published
// behavior), based on the idea of PyTorch's HistogramObserver. AMCT's histogram starts with the range of the
// first batch and is extended as needed; ours covers the final range, as if all samples were one batch. Cost:
// candidates * (bins + 2^bits), at most a few thousand candidates.
#include <algorithm>
#include <cmath>

#include "quantize/calibration/amct_scale.h"
#include "quantize/calibration/calibration_method.h"

namespace quantloupe {
namespace {

struct BinWindow {
    std::size_t left, right;  ///< first and last bin
};

std::vector<BinWindow> windowsOf(const std::vector<std::uint64_t>& counts, std::uint64_t total) {
    const std::uint64_t step = std::max<std::uint64_t>((total + 99999) / 100000, 1);
    const std::size_t smallest = (counts.size() + 3) / 4;
    std::size_t left = 0, right = counts.size() - 1;
    std::vector<BinWindow> windows;
    while (right - left > smallest) {
        std::size_t newLeft = left, newRight = right;
        for (std::uint64_t sum = 0; newLeft < right && sum < step; ++newLeft) sum += counts[newLeft];
        for (std::uint64_t sum = 0; newRight > left && sum < step; --newRight) sum += counts[newRight];
        if (newLeft - left > right - newRight)
            left = newLeft;
        else
            right = newRight;
        if (right <= left) break;
        windows.push_back({left, right});
    }
    return windows;
}

/// Returns the integral of t^2 from a to b.
double squareIntegral(double a, double b) { return (b * b * b - a * a * a) / 3; }

/// Returns the sum of squared errors in units of the squared width of a source bin.
double lossOf(const std::vector<std::uint64_t>& counts, const BinWindow& window, double targets) {
    const double width = static_cast<double>(window.right - window.left + 1) / targets;
    double loss = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        const double begin = static_cast<double>(i) - static_cast<double>(window.left), end = begin + 1;
        const double first = std::clamp(std::floor(begin / width), 0.0, targets - 1);
        const double last = std::clamp(std::floor(end / width), 0.0, targets - 1);
        double integral = 0, at = begin;
        for (double target = first; target <= last; ++target) {
            const double to = target == last ? end : (target + 1) * width;
            const double center = (target + 0.5) * width;
            integral += squareIntegral(at - center, to - center);
            at = to;
        }
        loss += static_cast<double>(counts[i]) * integral;
    }
    return loss;
}

}  // namespace

CalibrationResult solveHfmg(const TensorStatistics& statistics, const ActivationScheme& scheme,
                            const CalibrationParameters& parameters) {
    CalibrationResult result;
    // The histogram of a constant covers a range around it that has nothing to do with the values.
    if (statistics.min == statistics.max) {
        result.quantizer =
            amctQuantizer(amctScale(statistics.min, statistics.max, scheme.bits, scheme.symmetric), scheme);
        return result;
    }
    const ValueDistribution& distribution = *statistics.distribution;
    const Histogram histogram = distribution.range.coarsened(static_cast<std::size_t>(*parameters.numOfBins));
    const std::vector<BinWindow> windows = windowsOf(histogram.counts(), distribution.count);
    result.candidates = static_cast<int>(windows.size());
    BinWindow best{0, histogram.bins() - 1};
    for (std::size_t i = 0; i < windows.size(); ++i) {
        const double loss = lossOf(histogram.counts(), windows[i], static_cast<double>(1 << scheme.bits));
        if (result.index >= 0 && loss >= result.loss) continue;
        result.loss = loss;
        result.index = static_cast<int>(i);
        best = windows[i];
    }
    const double width = (static_cast<double>(histogram.high()) - static_cast<double>(histogram.low())) /
                         static_cast<double>(histogram.bins());
    result.loss *= width * width / static_cast<double>(std::max<std::uint64_t>(distribution.count, 1));
    const auto clipMin = static_cast<float>(histogram.low() + static_cast<double>(best.left) * width);
    const auto clipMax = static_cast<float>(histogram.low() + static_cast<double>(best.right + 1) * width);
    result.quantizer = amctQuantizer(amctScale(clipMin, clipMax, scheme.bits, scheme.symmetric), scheme);
    return result;
}

}  // namespace quantloupe
