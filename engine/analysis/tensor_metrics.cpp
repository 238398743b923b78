// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/difference_lanes.h"
#include "base/error.h"
#include "runtime/integer/codes.h"

namespace quantloupe {
namespace {

constexpr std::size_t kLanes = DifferenceLanes::kCount;

DifferenceSums laneOf(const DifferenceLanes& lanes, std::size_t i, std::size_t count) {
    return {lanes.difference[i],     lanes.reference[i],   lanes.tested[i],
            lanes.product[i],        lanes.maxAbsolute[i], lanes.absolute[i],
            lanes.plainReference[i], lanes.plainTested[i], count};
}

DifferenceSums ofElement(float reference, float tested) {
    const double f = reference, q = tested, d = q - f, a = std::fabs(d);
    return {d * d, f * f, q * q, q * f, a, a, f, q, 1};
}

double deviation(double squares, double mean, double count) {
    const double variance = squares / count - mean * mean;
    return std::sqrt(variance < 0 ? 0.0 : variance);  // NaN stays NaN
}

constexpr std::size_t kTogether = 1024;  // elements of both tensors that fit into the L1 cache

/// `testedAt(begin, count)` returns the values of the tensor under test from element `begin` on.
template <typename Values>
void addElements(DifferenceSums& sums, const float* reference, std::size_t elements, const Values& testedAt) {
    const AddDifferenceRows addRows = fastestDifferenceRows();
    const std::size_t whole = elements / kLanes * kLanes;
    DifferenceLanes lanes;
    for (std::size_t i = 0; i < whole; i += kTogether) {
        const std::size_t together = std::min(kTogether, whole - i);
        addRows(reference + i, testedAt(i, together), together / kLanes, kLanes, lanes);
    }
    if (whole > 0)
        for (std::size_t i = 0; i < kLanes; ++i) sums.merge(laneOf(lanes, i, whole / kLanes));
    const float* rest = testedAt(whole, elements - whole);
    for (std::size_t i = whole; i < elements; ++i) sums.merge(ofElement(reference[i], rest[i - whole]));
}

}  // namespace

void DifferenceSums::add(const float* reference, const float* tested, std::size_t elements) {
    addElements(*this, reference, elements, [&](std::size_t begin, std::size_t) { return tested + begin; });
}

void DifferenceSums::add(const float* reference, const std::uint8_t* codes, const FakeQuant& quantizer,
                         std::size_t elements) {
    float values[kTogether];
    addElements(*this, reference, elements, [&](std::size_t begin, std::size_t length) {
        decode(quantizer, codes + begin, values, length);
        return static_cast<const float*>(values);
    });
}

void DifferenceSums::merge(const DifferenceSums& other) {
    squaredDifference += other.squaredDifference;
    squaredReference += other.squaredReference;
    squaredTested += other.squaredTested;
    product += other.product;
    maxAbsolute = std::fmax(maxAbsolute, other.maxAbsolute);  // ignores NaN, as the lanes do
    absoluteDifference += other.absoluteDifference;
    sumReference += other.sumReference;
    sumTested += other.sumTested;
    count += other.count;
}

TensorDifference DifferenceSums::result() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    // The sums of finite float32 values are finite.
    const bool poisoned = !std::isfinite(squaredDifference) || !std::isfinite(squaredReference);
    TensorDifference result;
    if (poisoned)
        result.qs = undefined;
    else if (squaredDifference == 0)
        result.qs = 0;
    else
        result.qs = squaredReference == 0 ? infinity : std::sqrt(squaredDifference / squaredReference);
    result.sqnrDb = result.qs == 0 ? infinity : -20 * std::log10(result.qs);
    const bool tiny = std::sqrt(squaredReference) <= std::numeric_limits<float>::epsilon();
    result.relativeEuclidean = tiny ? 0 : result.qs;
    result.absoluteL2 = std::sqrt(squaredDifference);
    if (count == 0) return result;

    if (poisoned) {
        result.cosine = undefined;
        result.note = "the values are not all finite";
    } else if (squaredReference == 0 && squaredTested == 0) {
        result.cosine = 1;
    } else if (count == 1) {
        result.cosine = 1;
        result.note = "a single element: its cosine is always 1";
    } else if (squaredReference == 0 || squaredTested == 0) {
        result.cosine = undefined;
        result.note = squaredReference == 0 ? "the cosine is undefined: the reference is all zero"
                                            : "the cosine is undefined: the tensor is all zero";
    } else {
        result.cosine = std::clamp(product / std::sqrt(squaredReference * squaredTested), -1.0, 1.0);
    }
    const auto n = static_cast<double>(count);
    result.maxAbsolute = poisoned ? undefined : maxAbsolute;
    result.meanAbsolute = absoluteDifference / n;
    result.rootMeanSquare = std::sqrt(squaredDifference / n);
    result.referenceMean = sumReference / n;
    result.testedMean = sumTested / n;
    result.referenceDeviation = deviation(squaredReference, result.referenceMean, n);
    result.testedDeviation = deviation(squaredTested, result.testedMean, n);
    return result;
}

void addPerChannel(const ChannelLayout& layout, const float* reference, const float* tested,
                   std::span<DifferenceSums> channels) {
    if (channels.size() != layout.channels)
        fail(ErrorKind::Internal, "{} sums for {} channels", channels.size(), layout.channels);
    if (layout.inner != 1) {
        for (std::size_t o = 0; o < layout.outer; ++o)
            for (DifferenceSums& channel : channels) {
                channel.add(reference, tested, layout.inner);
                reference += layout.inner;
                tested += layout.inner;
            }
        return;
    }
    // Adjacent values belong to different channels, so each lane is a channel. Rows are processed in tiles
    // that fit into the L1 cache.
    constexpr std::size_t kTileElements = 2048;
    const std::size_t tile =
        std::max<std::size_t>(8, kTileElements / std::max<std::size_t>(1, layout.channels));
    const std::size_t blocks = layout.channels / kLanes;
    std::vector<DifferenceLanes> lanes(blocks);
    const AddDifferenceRows addRows = fastestDifferenceRows();
    for (std::size_t o = 0; o < layout.outer; o += tile) {
        const std::size_t rows = std::min(tile, layout.outer - o);
        const float* f = reference + o * layout.channels;
        const float* q = tested + o * layout.channels;
        for (std::size_t b = 0; b < blocks; ++b)
            addRows(f + b * kLanes, q + b * kLanes, rows, layout.channels, lanes[b]);
        for (std::size_t c = blocks * kLanes; c < layout.channels; ++c)
            for (std::size_t r = 0; r < rows; ++r)
                channels[c].merge(ofElement(f[r * layout.channels + c], q[r * layout.channels + c]));
    }
    for (std::size_t c = 0; c < blocks * kLanes; ++c)
        channels[c].merge(laneOf(lanes[c / kLanes], c % kLanes, layout.outer));
}

}  // namespace quantloupe
