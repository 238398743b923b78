// SPDX-License-Identifier: Apache-2.0
#pragma once
// Images: decoding JPEG and PNG, and the resize that the networks were trained with.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace quantloupe {

/// Eight-bit pixels, interleaved, row by row.
struct Image {
    int width = 0;
    int height = 0;
    int channels = 3;  ///< 3 (RGB) or 1 (grey)
    std::vector<std::uint8_t> pixels;
};

/// Decodes a JPEG or PNG (told by its first bytes) to RGB: grey is spread over three channels, alpha dropped,
/// palettes and 16 bits brought to 8, CMYK refused; EXIF orientation is not applied (as Pillow's open).
/// Throws Error naming the file for what does not decode, is incomplete or absurdly large. Any thread.
Image decodeImage(const std::filesystem::path& path);
/// The same from memory; `name` is for the error.
Image decodeImage(const std::uint8_t* data, std::size_t size, const std::string& name);

enum class Interpolation { Bilinear, Bicubic };

/// Antialiased, bit for bit as Image.resize(size, BILINEAR or BICUBIC) of Pillow 13: fixed-point coefficients
/// (22 bits), one pass for the rows and one for the columns. Throws Error for a size that no image can have.
Image resizeImage(const Image& image, int width, int height,
                  Interpolation interpolation = Interpolation::Bilinear);
/// The middle, halves rounded as torchvision does; throws Error if the image is smaller.
Image centerCrop(const Image& image, int width, int height);
/// ITU-R 601-2 luma, as Pillow's convert("L").
Image toGray(const Image& image);

}  // namespace quantloupe
