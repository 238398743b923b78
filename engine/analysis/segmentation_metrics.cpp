// SPDX-License-Identifier: Apache-2.0
#include "analysis/segmentation_metrics.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace quantloupe {
namespace {

Dims mapDims(const Dims& dims) {
    Dims result = dims;
    while (result.size() > 3 && result.front() == 1) result.erase(result.begin());
    if (result.size() != 3 && result.size() != 2)
        failInput("an output with the dimensions {} is not a map of classes: it must be C × H × W or H × W",
                  toString(dims));
    return result;
}

void combine(std::vector<std::uint64_t>& sums, const std::vector<std::uint64_t>& values, bool add) {
    sums.resize(std::max(sums.size(), values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += add ? values[i] : 0 - values[i];
}

std::uint16_t classFrom(float value) {
    if (!(value >= 0 && value < 65535) || value != std::floor(value))
        failInput("the output contains {}, which is not a class index", value);
    return static_cast<std::uint16_t>(value);
}

}  // namespace

std::size_t classesOfMap(const Dims& dims) {
    const Dims map = mapDims(dims);
    return map.size() == 2 ? 0 : std::max<std::size_t>(2, static_cast<std::size_t>(map[0]));
}

bool hasOneChannel(const Dims& dims) {
    const Dims map = mapDims(dims);
    return map.size() == 3 && map[0] == 1;
}

LabelImage predictedClasses(const SampleOutput& output, float threshold) {
    const Dims dims = mapDims(output.dims);
    const bool channels = dims.size() == 3;
    LabelImage map;
    map.height = static_cast<int>(dims[dims.size() - 2]);
    map.width = static_cast<int>(dims.back());
    const auto pixels = static_cast<std::size_t>(map.height) * static_cast<std::size_t>(map.width);
    map.classes.resize(pixels);
    const float* values = output.values.data();
    if (!channels) {
        std::transform(values, values + pixels, map.classes.begin(), classFrom);
    } else if (dims[0] == 1) {
        std::transform(values, values + pixels, map.classes.begin(), [threshold](float value) {
            return std::isnan(value) ? kNoPixelClass : static_cast<std::uint16_t>(value > threshold);
        });
    } else {
        std::vector<float> best(values, values + pixels);
        for (std::size_t c = 1; c < static_cast<std::size_t>(dims[0]); ++c) {
            const float* channel = values + c * pixels;
            for (std::size_t i = 0; i < pixels; ++i)
                if (channel[i] > best[i] || (std::isnan(best[i]) && !std::isnan(channel[i]))) {
                    best[i] = channel[i];
                    map.classes[i] = static_cast<std::uint16_t>(c);
                }
        }
        for (std::size_t i = 0; i < pixels; ++i)
            if (std::isnan(best[i])) map.classes[i] = kNoPixelClass;
    }
    return map;
}

LabelImage resampledLabels(const LabelImage& labels, const ImageGeometry& toInput, int inputWidth,
                           int inputHeight, int width, int height) {
    // Returns the original position for each position of the map, or -1.
    const auto positions = [](int count, int input, double scale, double offset, int original) {
        std::vector<int> from;
        for (int i = 0; i < count; ++i) {
            const double center = (i + 0.5) * input / count;
            const double at = std::floor((center - offset) / scale);
            from.push_back(at >= 0 && at < original ? static_cast<int>(at) : -1);
        }
        return from;
    };
    const auto columns = positions(width, inputWidth, toInput.scaleX, toInput.offsetX, labels.width);
    const auto rows = positions(height, inputHeight, toInput.scaleY, toInput.offsetY, labels.height);
    LabelImage result{width, height, {}};
    result.classes.reserve(columns.size() * rows.size());
    for (const int row : rows)
        for (const int column : columns)
            result.classes.push_back(
                row < 0 || column < 0
                    ? kIgnoredClass
                    : labels.classes[static_cast<std::size_t>(row) * static_cast<std::size_t>(labels.width) +
                                     static_cast<std::size_t>(column)]);
    return result;
}

PixelCounts countPixels(const LabelImage& predicted, const LabelImage& labels, std::size_t classes) {
    if (predicted.width != labels.width || predicted.height != labels.height)
        fail(ErrorKind::Internal, "a map of {}×{} pixels is compared with labels of {}×{}", predicted.width,
             predicted.height, labels.width, labels.height);
    const auto occurring = [](const LabelImage& image) {
        std::size_t most = 0;
        for (const std::uint16_t c : image.classes)
            if (c != kIgnoredClass) most = std::max(most, std::size_t{c} + 1);
        return most;
    };
    if (classes == 0) classes = std::max(occurring(predicted), occurring(labels));
    PixelCounts counts{std::vector<std::uint64_t>(classes), std::vector<std::uint64_t>(classes),
                       std::vector<std::uint64_t>(classes), 0};
    for (std::size_t i = 0; i < labels.classes.size(); ++i) {
        const std::uint16_t label = labels.classes[i], found = predicted.classes[i];
        if (label == kIgnoredClass) continue;
        if (label >= classes) {
            ++counts.beyond;
            continue;
        }
        ++counts.labeled[label];
        if (found >= classes) continue;  // kNoPixelClass, or a value of the output, for example 255
        ++counts.predicted[found];
        if (found == label) ++counts.both[label];
    }
    return counts;
}

void PixelCounts::add(const PixelCounts& other) {
    combine(both, other.both, true);
    combine(predicted, other.predicted, true);
    combine(labeled, other.labeled, true);
    beyond += other.beyond;
}

void PixelCounts::subtract(const PixelCounts& other) {
    combine(both, other.both, false);
    combine(predicted, other.predicted, false);
    combine(labeled, other.labeled, false);
    beyond -= other.beyond;
}

std::optional<double> PixelCounts::iou(std::size_t category) const {
    const std::uint64_t either = predicted[category] + labeled[category] - both[category];
    if (either == 0) return std::nullopt;
    return static_cast<double>(both[category]) / static_cast<double>(either);
}

std::optional<double> PixelCounts::meanIou() const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t c = 0; c < both.size(); ++c)
        if (const auto value = iou(c)) {
            sum += *value;
            ++count;
        }
    if (count == 0) return std::nullopt;
    return sum / static_cast<double>(count);
}

std::optional<double> PixelCounts::accuracy() const {
    std::uint64_t right = 0, all = 0;
    for (std::size_t c = 0; c < both.size(); ++c) {
        right += both[c];
        all += labeled[c];
    }
    if (all == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace quantloupe
