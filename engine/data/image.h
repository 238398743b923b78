// SPDX-License-Identifier: Apache-2.0
#pragma once
// Images: decoding JPEG and PNG, and resizing as in training.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace quantloupe {

/// Eight-bit pixels, interleaved, row by row.
struct Image {
    int width = 0;
    int height = 0;
    int channels = 3;  ///< 3 (RGB) or 1 (gray)
    std::vector<std::uint8_t> pixels;
};

/// Decodes a JPEG or PNG (recognized by its first bytes) to RGB. Gray is replicated to three channels, alpha
/// is dropped, palettes and 16 bits are converted to 8 bits per channel, and CMYK is refused. EXIF
/// orientation is not applied (as in Pillow's open). Throws Error naming the file if it cannot be decoded, is
/// incomplete or absurdly large. May be called from any thread.
Image decodeImage(const std::filesystem::path& path);
/// Decodes from memory; `name` is used in errors.
Image decodeImage(const std::uint8_t* data, std::size_t size, const std::string& name);

enum class Interpolation { Bilinear, Bicubic };

/// Resizes with antialiasing, bit-identical to Image.resize(size, BILINEAR or BICUBIC) of Pillow 13:
/// fixed-point coefficients (22 bits), one pass for the rows and one for the columns. Throws Error for an
/// invalid size.
Image resizeImage(const Image& image, int width, int height,
                  Interpolation interpolation = Interpolation::Bilinear);
/// Crops the center, rounding halves as torchvision does. Throws Error if the image is smaller.
Image centerCrop(const Image& image, int width, int height);
/// Returns the position of the first pixel of a center crop that removes `space` pixels in total; rounded
/// half to even.
int cropOffset(int space);
/// Converts to ITU-R 601-2 luma, as Pillow's convert("L").
Image toGray(const Image& image);

}  // namespace quantloupe
