// SPDX-License-Identifier: Apache-2.0
#pragma once
// The decoders used by decodeImage. Each takes a whole file in memory and returns RGB. They keep no state, so
// any thread may call them. They throw Error without naming the file (decodeImage adds it).

#include <cstddef>
#include <cstdint>

#include "data/annotations.h"
#include "data/image.h"

namespace quantloupe {

/// libjpeg, accurate integer DCT and smooth chroma upsampling (its defaults, which Pillow keeps, too).
Image decodeJpeg(const std::uint8_t* data, std::size_t size);
Image decodePng(const std::uint8_t* data, std::size_t size);

/// Reads the values or palette indices of a gray or palette PNG.
LabelImage decodePngLabels(const std::uint8_t* data, std::size_t size);

/// Throws Error if an image has no pixels, more than 2^27, or so many for a file of `fileSize` bytes that it
/// can only be a decompression bomb.
void requireImageSize(std::uint64_t width, std::uint64_t height, std::size_t fileSize);
/// Allocates an RGB image. Throws Error like requireImageSize().
Image allocateRgb(std::uint64_t width, std::uint64_t height, std::size_t fileSize);

}  // namespace quantloupe
