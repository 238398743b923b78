// SPDX-License-Identifier: Apache-2.0
#include "data/image.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/input_file.h"
#include "data/image_codecs.h"

namespace quantloupe {

namespace {

constexpr std::uint64_t kMaxImageBytes = std::uint64_t{1} << 29;
constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 27;
// Neither format encodes more pixels than this in one byte. Small images are not checked.
constexpr std::uint64_t kMaxPixelsPerByte = 10000;
constexpr std::uint64_t kHarmlessPixels = std::uint64_t{1} << 20;

bool startsWith(const std::uint8_t* data, std::size_t size, std::initializer_list<std::uint8_t> magic) {
    return size >= magic.size() && std::equal(magic.begin(), magic.end(), data);
}

Image decodeByMagic(const std::uint8_t* data, std::size_t size) {
    if (size == 0) failInput("the file is empty");
    if (startsWith(data, size, {0xff, 0xd8, 0xff})) return decodeJpeg(data, size);
    if (startsWith(data, size, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})) return decodePng(data, size);
    failInput("this is neither a JPEG nor a PNG file: convert it to one of these");
}

}  // namespace

void requireImageSize(std::uint64_t width, std::uint64_t height, std::size_t fileSize) {
    if (width == 0 || height == 0) failInput("the image has no pixels ({}×{})", width, height);
    if (width > kMaxPixels || height > kMaxPixels / width)
        failInput("the image is too large: {}×{} pixels, the limit is {} million", width, height,
                  kMaxPixels / 1000000);
    if (width * height > kHarmlessPixels && width * height / kMaxPixelsPerByte > fileSize)
        failInput(
            "the file header says {}×{} pixels but the file has only {} bytes: it is damaged or malicious",
            width, height, fileSize);
}

Image allocateRgb(std::uint64_t width, std::uint64_t height, std::size_t fileSize) {
    requireImageSize(width, height, fileSize);
    Image image;
    image.width = static_cast<int>(width);
    image.height = static_cast<int>(height);
    image.channels = 3;
    image.pixels.resize(static_cast<std::size_t>(width * height * 3));
    return image;
}

Image decodeImage(const std::uint8_t* data, std::size_t size, const std::string& name) {
    try {
        return decodeByMagic(data, size);
    } catch (Error& error) {
        error.addContext(fmt::format("image '{}'", name));
        throw;
    }
}

Image decodeImage(const std::filesystem::path& path) {
    const std::string bytes = readFile(path, kMaxImageBytes);
    return decodeImage(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), path.string());
}

LabelImage readLabelImage(const std::filesystem::path& path) {
    const std::string bytes = readFile(path, kMaxImageBytes);
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        if (!startsWith(data, bytes.size(), {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}))
            failInput("this is not a PNG file");
        return decodePngLabels(data, bytes.size());
    } catch (Error& error) {
        error.addContext(fmt::format("label image '{}'", path.string()));
        throw;
    }
}

// Half of `space`, rounded half to even.
int cropOffset(int space) { return space / 2 + (space % 4 == 3 ? 1 : 0); }

Image centerCrop(const Image& image, int width, int height) {
    if (width <= 0 || height <= 0)
        failInput("a crop to {}×{} pixels (width × height) has no pixels", width, height);
    if (width > image.width || height > image.height)
        failInput("an image of {}×{} pixels (width × height) is too small for a crop to {}×{}", image.width,
                  image.height, width, height);
    const auto channels = static_cast<std::size_t>(image.channels);
    const auto left = static_cast<std::size_t>(cropOffset(image.width - width));
    const auto top = static_cast<std::size_t>(cropOffset(image.height - height));
    const std::size_t from = static_cast<std::size_t>(image.width) * channels;
    const std::size_t to = static_cast<std::size_t>(width) * channels;
    Image crop{width, height, image.channels,
               std::vector<std::uint8_t>(to * static_cast<std::size_t>(height))};
    for (std::size_t row = 0; row < static_cast<std::size_t>(height); ++row)
        std::memcpy(crop.pixels.data() + row * to, image.pixels.data() + (top + row) * from + left * channels,
                    to);
    return crop;
}

Image toGray(const Image& image) {
    if (image.channels == 1) return image;
    Image gray{image.width, image.height, 1, std::vector<std::uint8_t>(image.pixels.size() / 3)};
    for (std::size_t i = 0; i < gray.pixels.size(); ++i) {
        const std::uint8_t* rgb = image.pixels.data() + 3 * i;
        // 0.299, 0.587 and 0.114 in 16 bits of fraction; they sum to exactly 1.
        const std::uint32_t luma = rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u;
        gray.pixels[i] = static_cast<std::uint8_t>(luma >> 16);
    }
    return gray;
}

}  // namespace quantloupe
