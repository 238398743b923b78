// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps the pixels of an image to the network's input.

#include "data/preprocess.h"

namespace quantloupe {

/// Input coordinates = original coordinates * scale + offset, in pixels; (0, 0) is the corner of the first
/// pixel.
struct ImageGeometry {
    double scaleX = 1, scaleY = 1;
    double offsetX = 0, offsetY = 0;
};

/// Returns the geometry of an image of `width` × `height` pixels. Throws Error if it has no pixels.
ImageGeometry geometryOf(const Preprocess& preprocess, int width, int height);

/// Size of the scaled image inside `target` (height, width) and its top left corner.
struct LetterboxPlace {
    int width = 0, height = 0, left = 0, top = 0;
};
/// Returns the largest size with the image's aspect ratio, rounded half to even, and its position in the
/// center. If the padding is odd, the extra pixel is on the right or at the bottom, as in Ultralytics'
/// LetterBox.
LetterboxPlace letterboxPlace(const std::array<int, 2>& target, int width, int height);

/// Resizes and crops an image according to the preprocessing, without converting colors.
Image resizedAndCropped(const Image& image, const Preprocess& preprocess);

}  // namespace quantloupe
