// SPDX-License-Identifier: Apache-2.0
// Antialiased bilinear resize in fixed point, the arithmetic of Pillow's Image.resize(size, BILINEAR), with
// which most networks were trained; a different resize shifts accuracy by tenths of a percent.
//
// A triangle filter is laid over the source at each target pixel; when shrinking it is stretched by the
// factor, so that every source pixel counts (antialiasing). The weights are normalised in double, then
// rounded to 22 bits of fraction. Rows first, rounded to 8 bits, then columns. Cost: target pixels × filter
// width, a pass. Weakness: bit equality holds for 8-bit pixels alone.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/image.h"

namespace quantloupe {

namespace {

constexpr int kBits = 32 - 8 - 2;  // 8 bits of pixel, 2 of head room for the sum
constexpr int kMostSide = 1 << 16;

/// For each target position the first source position and the weights from there on.
struct Taps {
    std::size_t width = 0;  ///< places in `weights` per target position
    std::vector<std::size_t> first, count;
    std::vector<std::int32_t> weights;
};

std::int32_t toFixed(double weight) {
    const double scaled = weight * (1 << kBits);
    return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

Taps tapsFor(int source, int target) {
    const double scale = static_cast<double>(source) / target;
    const double stretch = std::max(scale, 1.0);
    const double support = stretch;  // the triangle reaches one pixel to each side
    Taps taps;
    taps.width = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
    taps.weights.resize(taps.width * static_cast<std::size_t>(target));
    std::vector<double> weights(taps.width);
    for (int at = 0; at < target; ++at) {
        const double center = (at + 0.5) * scale;
        const int begin = std::max(static_cast<int>(center - support + 0.5), 0);
        const int end = std::min(static_cast<int>(center + support + 0.5), source);
        const auto count = static_cast<std::size_t>(end - begin);
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double distance =
                std::abs((static_cast<double>(i) + begin - center + 0.5) * (1.0 / stretch));
            weights[i] = distance < 1.0 ? 1.0 - distance : 0.0;
            sum += weights[i];
        }
        for (std::size_t i = 0; i < count; ++i)
            taps.weights[static_cast<std::size_t>(at) * taps.width + i] =
                toFixed(sum != 0 ? weights[i] / sum : weights[i]);
        taps.first.push_back(static_cast<std::size_t>(begin));
        taps.count.push_back(count);
    }
    return taps;
}

std::uint8_t toPixel(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kBits, 0, 255)); }

template <std::size_t Channels>
void resizeRows(const Image& source, Image& target, const Taps& taps) {
    const auto width = static_cast<std::size_t>(target.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(target.height); ++y) {
        const std::uint8_t* from =
            source.pixels.data() + y * static_cast<std::size_t>(source.width) * Channels;
        std::uint8_t* to = target.pixels.data() + y * width * Channels;
        for (std::size_t x = 0; x < width; ++x) {
            const std::int32_t* weights = taps.weights.data() + x * taps.width;
            const std::uint8_t* pixel = from + taps.first[x] * Channels;
            std::int32_t sums[Channels];
            std::fill_n(sums, Channels, 1 << (kBits - 1));
            for (std::size_t i = 0; i < taps.count[x]; ++i, pixel += Channels)
                for (std::size_t c = 0; c < Channels; ++c) sums[c] += pixel[c] * weights[i];
            for (std::size_t c = 0; c < Channels; ++c) *to++ = toPixel(sums[c]);
        }
    }
}

void resizeColumns(const Image& source, Image& target, const Taps& taps) {
    const std::size_t stride =
        static_cast<std::size_t>(target.width) * static_cast<std::size_t>(target.channels);
    std::vector<std::int32_t> sums(stride);
    for (std::size_t y = 0; y < static_cast<std::size_t>(target.height); ++y) {
        const std::int32_t* weights = taps.weights.data() + y * taps.width;
        std::fill(sums.begin(), sums.end(), 1 << (kBits - 1));
        for (std::size_t i = 0; i < taps.count[y]; ++i) {
            const std::uint8_t* from = source.pixels.data() + (taps.first[y] + i) * stride;
            for (std::size_t x = 0; x < stride; ++x) sums[x] += from[x] * weights[i];
        }
        std::transform(sums.begin(), sums.end(), target.pixels.data() + y * stride, toPixel);
    }
}

Image blank(int width, int height, int channels) {
    return {width, height, channels,
            std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                      static_cast<std::size_t>(channels))};
}

}  // namespace

Image resizeBilinear(const Image& image, int width, int height) {
    if (width <= 0 || height <= 0 || width > kMostSide || height > kMostSide)
        failInput("an image cannot be resized to {}×{} pixels (width × height)", width, height);
    Image result = image;
    if (width != image.width) {
        Image rows = blank(width, image.height, image.channels);
        const Taps taps = tapsFor(image.width, width);
        if (image.channels == 1)
            resizeRows<1>(image, rows, taps);
        else
            resizeRows<3>(image, rows, taps);
        result = std::move(rows);
    }
    if (height != image.height) {
        Image columns = blank(width, height, image.channels);
        resizeColumns(result, columns, tapsFor(image.height, height));
        result = std::move(columns);
    }
    return result;
}

}  // namespace quantloupe
