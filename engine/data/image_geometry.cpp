// SPDX-License-Identifier: Apache-2.0
#include "data/image_geometry.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr std::uint8_t kLetterboxGray = 114;  // the padding of the YOLO networks

/// Pastes the image into a gray image of the size that the preprocessing specifies.
Image letterboxed(const Image& image, const Preprocess& preprocess) {
    const auto [height, width] = *preprocess.resize;
    const LetterboxPlace place = letterboxPlace(*preprocess.resize, image.width, image.height);
    const Image inner = resizeImage(image, place.width, place.height, preprocess.interpolation);
    const auto channels = static_cast<std::size_t>(image.channels);
    const std::size_t stride = static_cast<std::size_t>(width) * channels;
    const std::size_t row = static_cast<std::size_t>(place.width) * channels;
    Image result{width, height, image.channels,
                 std::vector<std::uint8_t>(stride * static_cast<std::size_t>(height), kLetterboxGray)};
    for (std::size_t y = 0; y < static_cast<std::size_t>(place.height); ++y)
        std::copy_n(inner.pixels.data() + y * row, row,
                    result.pixels.data() + (y + static_cast<std::size_t>(place.top)) * stride +
                        static_cast<std::size_t>(place.left) * channels);
    return result;
}

}  // namespace

LetterboxPlace letterboxPlace(const std::array<int, 2>& target, int width, int height) {
    if (width <= 0 || height <= 0) failInput("an image of {}×{} pixels has no pixels", width, height);
    const double scale =
        std::min(static_cast<double>(target[0]) / height, static_cast<double>(target[1]) / width);
    const auto scaled = [&](int side, int most) {
        return std::clamp(static_cast<int>(std::nearbyint(side * scale)), 1, most);
    };
    LetterboxPlace place;
    place.width = scaled(width, target[1]);
    place.height = scaled(height, target[0]);
    place.left = (target[1] - place.width) / 2;
    place.top = (target[0] - place.height) / 2;
    return place;
}

ImageGeometry geometryOf(const Preprocess& preprocess, int width, int height) {
    if (width <= 0 || height <= 0) failInput("an image of {}×{} pixels has no pixels", width, height);
    ImageGeometry geometry;
    std::array<int, 2> size = {height, width};
    if (preprocess.resize) {
        LetterboxPlace place{(*preprocess.resize)[1], (*preprocess.resize)[0], 0, 0};
        if (preprocess.fit == Preprocess::Fit::Letterbox)
            place = letterboxPlace(*preprocess.resize, width, height);
        geometry = {static_cast<double>(place.width) / width, static_cast<double>(place.height) / height,
                    static_cast<double>(place.left), static_cast<double>(place.top)};
        size = *preprocess.resize;
    }
    if (preprocess.centerCrop) {
        geometry.offsetX -= cropOffset(size[1] - (*preprocess.centerCrop)[1]);
        geometry.offsetY -= cropOffset(size[0] - (*preprocess.centerCrop)[0]);
    }
    return geometry;
}

Image resizedAndCropped(const Image& image, const Preprocess& preprocess) {
    Image result = image;
    if (preprocess.resize && preprocess.fit == Preprocess::Fit::Letterbox)
        result = letterboxed(image, preprocess);
    else if (preprocess.resize)
        result =
            resizeImage(image, (*preprocess.resize)[1], (*preprocess.resize)[0], preprocess.interpolation);
    if (preprocess.centerCrop)
        result = centerCrop(result, (*preprocess.centerCrop)[1], (*preprocess.centerCrop)[0]);
    return result;
}

}  // namespace quantloupe
