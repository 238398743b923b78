// SPDX-License-Identifier: Apache-2.0
// Antialiased bilinear and bicubic resize in fixed point, the arithmetic of Pillow's Image.resize, with which
// most networks were trained; a different resize shifts accuracy by tenths of a percent.
//
// A filter (a triangle, or Keys' cubic with a = -0.5) is applied to the source at each target pixel. When
// shrinking, it is stretched by the factor so that every source pixel counts (antialiasing). The weights are
// normalized in double, then rounded to 22 bits of fraction. Between the two passes pixels are rounded to 8
// bits, so the order of the passes matters: rows first, but columns first if the height shrinks by more than
// twice as many pixels as the width, as in Pillow since version 13 (11 and 12 always start with the rows).
// Cost: target pixels × filter width per pass. Weakness: results are bit-identical only for 8-bit pixels.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/image.h"

namespace quantloupe {

namespace {

constexpr int kBits = 32 - 8 - 2;  // 8 bits of pixel, 2 of head room for the sum
constexpr int kMaxResizedSide = 1 << 16;

/// The first source position of each target position and the weights from there on.
struct Taps {
    std::size_t width = 0;  ///< places in `weights` per target position
    std::vector<std::size_t> first, count;
    std::vector<std::int32_t> weights;
};

std::int32_t toFixed(double weight) {
    const double scaled = weight * (1 << kBits);
    return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

double triangle(double distance) { return distance < 1.0 ? 1.0 - distance : 0.0; }

double cubic(double distance) {
    constexpr double kA = -0.5;
    if (distance < 1.0) return ((kA + 2.0) * distance - (kA + 3.0)) * distance * distance + 1;
    if (distance < 2.0) return (((distance - 5) * distance + 8) * distance - 4) * kA;
    return 0.0;
}

Taps tapsFor(int source, int target, Interpolation interpolation) {
    const bool bicubic = interpolation == Interpolation::Bicubic;
    const double scale = static_cast<double>(source) / target;
    const double stretch = std::max(scale, 1.0);
    const double support = (bicubic ? 2.0 : 1.0) * stretch;  // to each side
    const double inverse = 1.0 / stretch;
    Taps taps;
    taps.width = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
    taps.weights.resize(taps.width * static_cast<std::size_t>(target));
    std::vector<double> weights(taps.width);
    for (int at = 0; at < target; ++at) {
        const double center = (at + 0.5) * scale;
        // NOLINTBEGIN(bugprone-incorrect-roundings): rounded as in Pillow
        const int begin = std::max(static_cast<int>(center - support + 0.5), 0);
        const int end = std::min(static_cast<int>(center + support + 0.5), source);
        // NOLINTEND(bugprone-incorrect-roundings)
        const auto count = static_cast<std::size_t>(end - begin);
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double distance = std::abs((static_cast<double>(i) + begin - center + 0.5) * inverse);
            weights[i] = bicubic ? cubic(distance) : triangle(distance);
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

Image withWidth(const Image& image, int width, Interpolation interpolation) {
    if (width == image.width) return image;
    Image result = blank(width, image.height, image.channels);
    const Taps taps = tapsFor(image.width, width, interpolation);
    if (image.channels == 1)
        resizeRows<1>(image, result, taps);
    else
        resizeRows<3>(image, result, taps);
    return result;
}

Image withHeight(const Image& image, int height, Interpolation interpolation) {
    if (height == image.height) return image;
    Image result = blank(image.width, height, image.channels);
    resizeColumns(image, result, tapsFor(image.height, height, interpolation));
    return result;
}

}  // namespace

Image resizeImage(const Image& image, int width, int height, Interpolation interpolation) {
    if (width <= 0 || height <= 0 || width > kMaxResizedSide || height > kMaxResizedSide)
        failInput("an image cannot be resized to {}×{} pixels (width × height)", width, height);
    const int narrower = image.width - width, lower = image.height - height;
    if (lower > 0 && lower > 2 * narrower)
        return withWidth(withHeight(image, height, interpolation), width, interpolation);
    return withHeight(withWidth(image, width, interpolation), height, interpolation);
}

}  // namespace quantloupe
