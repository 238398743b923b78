// SPDX-License-Identifier: Apache-2.0
// Chooses the range around 0 in which quantization loses the least information, that is, with the smallest
// Kullback-Leibler divergence
//     D(p || q) = sum p log(p / q)
// between p, the histogram limited to the range (values outside are added to its ends), and q, the same
// histogram with its bins merged to the number of quantized bins and expanded again. Zeros of both are
// smoothed by 1e-4. Source: S. Migacz, 8-bit inference with TensorRT (2017), reproducing the numbers of ONNX
// Runtime's calibrate.py: candidates grow from `num_quantized_bins` bins to all bins, counts are integers,
// divergences are float32, and the first candidate with the smallest divergence wins. With the default of 128
// bins and 128 quantized bins, the full range is therefore the only candidate. Cost: bins^2 / 2. Weakness:
// clips far too much if a peak at 0 dominates (2048 bins cost MobileNetV2 5.7 points).
#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {
namespace {

/// Replaces zeros with 1e-4 and subtracts the sum evenly from the other values. Returns false if all are
/// zero.
bool smooth(const std::vector<std::int64_t>& counts, std::vector<float>& smoothed) {
    constexpr float kLittle = 1e-4f;
    const auto zeros = std::count(counts.begin(), counts.end(), 0);
    const auto others = static_cast<std::ptrdiff_t>(counts.size()) - zeros;
    if (others == 0) return false;
    const auto given = static_cast<float>(1e-4 * static_cast<double>(zeros) / static_cast<double>(others));
    smoothed.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        smoothed[i] = counts[i] == 0 ? kLittle : static_cast<float>(counts[i]) - given;
    return true;
}

/// Adds in pairs, as NumPy does: blocks of 128 in eight partial sums.
float pairwiseSum(const float* values, std::size_t count) {
    if (count < 8) {
        float sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += values[i];
        return sum;
    }
    if (count <= 128) {
        float r[8];
        std::copy_n(values, 8, r);
        std::size_t i = 8;
        for (; i + 8 <= count; i += 8)
            for (std::size_t j = 0; j < 8; ++j) r[j] += values[i + j];
        float sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < count; ++i) sum += values[i];
        return sum;
    }
    std::size_t half = count / 2;
    half -= half % 8;
    return pairwiseSum(values, half) + pairwiseSum(values + half, count - half);
}

float divergence(std::vector<float>& p, std::vector<float>& q) {
    const float pSum = pairwiseSum(p.data(), p.size()), qSum = pairwiseSum(q.data(), q.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
        const float a = p[i] / pSum, b = q[i] / qSum;
        if (!(a > 0 && b > 0)) return std::numeric_limits<float>::infinity();
        p[i] = a * std::log(a / b);
    }
    return pairwiseSum(p.data(), p.size());
}

/// Returns half the width of the best range, in bins.
std::size_t bestHalf(const std::vector<std::uint64_t>& counts, std::size_t quantizedBins) {
    const std::size_t bins = counts.size(), middle = bins / 2;
    std::vector<std::int64_t> before(bins + 1, 0);  // sum of the counts of all bins before each bin
    for (std::size_t i = 0; i < bins; ++i) before[i + 1] = before[i] + static_cast<std::int64_t>(counts[i]);
    float best = std::numeric_limits<float>::infinity();
    std::size_t chosen = quantizedBins / 2;
    std::vector<std::int64_t> p, q;
    std::vector<float> smoothP, smoothQ;
    for (std::size_t half = quantizedBins / 2; half <= middle; ++half) {
        const std::size_t start = middle - half, end = std::min(middle + half + 1, bins), size = end - start;
        p.assign(counts.begin() + static_cast<std::ptrdiff_t>(start),
                 counts.begin() + static_cast<std::ptrdiff_t>(end));
        p.front() += before[start];
        p.back() += before[bins] - before[end];
        const std::size_t merged = size / quantizedBins;
        q.assign(size, 0);
        for (std::size_t b = 0; b < quantizedBins; ++b) {
            const std::size_t from = b * merged, to = from + merged;
            std::int64_t sum = before[start + to] - before[start + from];
            if (b + 1 == quantizedBins) sum = before[end] - before[start + from];
            const auto filled = static_cast<std::int64_t>(merged) -
                                std::count(p.begin() + static_cast<std::ptrdiff_t>(from),
                                           p.begin() + static_cast<std::ptrdiff_t>(to), 0);
            if (filled > 0)
                std::fill(q.begin() + static_cast<std::ptrdiff_t>(from),
                          q.begin() + static_cast<std::ptrdiff_t>(to), sum / filled);
        }
        if (!smooth(p, smoothP) || !smooth(q, smoothQ)) continue;
        const float here = divergence(smoothP, smoothQ);
        if (here < best) {
            best = here;
            chosen = half;
        }
    }
    return chosen;
}

}  // namespace

CalibrationResult solveEntropy(const TensorStatistics& statistics, const ActivationScheme& scheme,
                               const CalibrationParameters& parameters) {
    const auto bins = static_cast<std::size_t>(*parameters.bins);
    const auto quantized = static_cast<std::size_t>(*parameters.quantizedBins);
    const Histogram histogram = statistics.distribution->symmetric.coarsened(bins);
    const std::size_t half = bestHalf(histogram.counts(), quantized);
    const float low = histogram.edge(bins / 2 - half),
                high = histogram.edge(std::min(bins / 2 + half + 1, bins));
    CalibrationResult result;
    result.quantizer =
        quantizerForRange(std::max(low, statistics.min), std::min(high, statistics.max), scheme);
    result.index = static_cast<int>(half - quantized / 2);
    result.candidates = static_cast<int>(bins / 2 - quantized / 2 + 1);
    return result;
}

}  // namespace quantloupe
