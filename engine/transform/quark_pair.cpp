// SPDX-License-Identifier: Apache-2.0
// Quark's scaling of a pair.
//
// Terms: r0, r1 are the largest |w| of a shared channel in head and tail; s = r1 / sqrt(r0 r1), 1 if the root
// is 0 or r0 + r1 is below the threshold. With the bias appended, r0 includes |bias| / shrink as one more
// weight, so that a large bias is not inflated. shrink is 2 to 20, depending on how large biases are compared
// with weights: ratio = |b| / |w| over all weights of the head, with zeros replaced by the channel's smallest
// magnitude and magnitudes below 1e-7 by 1e-7. The bias of a channel of zeros is ignored. Source: Quark
// 0.11.2, whose float32 operations and their order are reproduced (verified bit for bit). Cost: O(weights of
// both), and the median of the ratios if biases are included. Limitation: shrink is a discontinuous function
// of median and mean.
#include "transform/quark_pair.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace quantloupe {
namespace {

constexpr float kSmallestWeight = 1e-7f;

/// Returns the weights of each output channel.
std::vector<std::vector<float>> rowsOf(const EditedLayer& layer) {
    const AxisExtents split = axisExtents(layer.layout.dims, layer.layout.outputAxis);
    std::vector<std::vector<float>> rows(split.extent);
    const float* at = layer.weight.data();
    for (std::size_t o = 0; o < split.outer; ++o)
        for (auto& row : rows) {
            row.insert(row.end(), at, at + split.inner);
            at += split.inner;
        }
    return rows;
}

/// Prepares magnitudes for the ratios; returns false for a channel of zeros.
bool fillMagnitudes(std::vector<float>& row) {
    float smallest = INFINITY;
    for (float& w : row) {
        w = std::fabs(w);
        if (w != 0) smallest = std::min(smallest, w);
    }
    const bool alive = smallest != INFINITY;
    for (float& w : row) w = std::max(w == 0 && alive ? smallest : w, kSmallestWeight);
    return alive;
}

float shrinkFactor(std::vector<float> ratios, float largestBias, float largestWeight) {
    double sum = 0;
    for (const float r : ratios) sum += static_cast<double>(r);
    const double mean = sum / static_cast<double>(ratios.size());
    const float median = medianOf(std::move(ratios));
    if (largestBias < 10 && largestBias / largestWeight < 20)
        return median > 100 || mean > 1000 ? 5.0f : 2.0f;
    if (median > 30 || mean > 500) return 20.0f;
    return median > 15 || mean > 100 ? 10.0f : 5.0f;
}

}  // namespace

std::vector<float> quarkHeadRanges(const EditedLayer& head, bool appendBias) {
    std::vector<float> ranges = maxAbsAlong(head.weight, head.layout.dims, head.layout.outputAxis);
    if (!appendBias || head.bias.empty()) return ranges;
    auto rows = rowsOf(head);
    std::vector<float> ratios, biases(rows.size());
    float largestBias = 0, largestWeight = 0;
    for (std::size_t o = 0; o < rows.size(); ++o) {
        biases[o] = fillMagnitudes(rows[o]) ? std::fabs(head.bias[o]) : 0.0f;
        largestBias = std::max(largestBias, biases[o]);
        for (const float w : rows[o]) {
            largestWeight = std::max(largestWeight, w);
            ratios.push_back(biases[o] / w);
        }
    }
    if (ratios.empty()) return ranges;
    const float shrink = shrinkFactor(std::move(ratios), largestBias, largestWeight);
    for (std::size_t o = 0; o < ranges.size(); ++o) ranges[o] = std::max(ranges[o], biases[o] / shrink);
    return ranges;
}

std::vector<float> scaleQuarkPair(EditedLayer& head, EditedLayer& tail, const QuarkPairOptions& options) {
    const std::vector<float> r0 = quarkHeadRanges(head, options.appendBias);
    const std::vector<float> r1 = maxAbsAlong(tail.weight, tail.layout.dims, tail.layout.inputAxis);
    const float threshold = static_cast<float>(options.weightThreshold);
    std::vector<float> s(r0.size()), inverse(r0.size());
    for (std::size_t c = 0; c < s.size(); ++c) {
        const float root = std::sqrt(r0[c] * r1[c]);
        s[c] = root == 0 || r0[c] + r1[c] < threshold ? 1.0f : r1[c] / root;
        // NaN weights, and factors without a reciprocal, leave the channel unchanged.
        if (!(s[c] > 0) || !std::isfinite(s[c]) || !std::isfinite(1.0f / s[c])) s[c] = 1.0f;
        inverse[c] = 1.0f / s[c];
    }
    scaleAlong(head.weight, head.layout.dims, head.layout.outputAxis, s);
    for (std::size_t c = 0; c < head.bias.size(); ++c) head.bias[c] *= s[c];
    scaleAlong(tail.weight, tail.layout.dims, tail.layout.inputAxis, inverse);
    return s;
}

}  // namespace quantloupe
