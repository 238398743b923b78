// SPDX-License-Identifier: Apache-2.0
// PNG by libpng. As with JPEG, its error callback must not return: both phases run under setjmp in functions
// that own nothing. Gamma and color profiles are ignored, as in the training pipelines of the networks.

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "data/image_codecs.h"

namespace quantloupe {

namespace {

constexpr png_uint_32 kMaxPngSide = 1000000;

struct PngDecoder {
    png_structp state = nullptr;
    png_infop info = nullptr;
    const std::uint8_t* data = nullptr;
    std::size_t left = 0;
    std::jmp_buf escape{};
    char message[128] = {};

    PngDecoder() = default;
    PngDecoder(const PngDecoder&) = delete;
    PngDecoder& operator=(const PngDecoder&) = delete;
    ~PngDecoder() { png_destroy_read_struct(&state, &info, nullptr); }
};

void onError(png_structp state, png_const_charp text) {
    auto& decoder = *static_cast<PngDecoder*>(png_get_error_ptr(state));
    std::snprintf(decoder.message, sizeof decoder.message, "%s", text);
    std::longjmp(decoder.escape, 1);
}

void onWarning(png_structp, png_const_charp) {}

void onRead(png_structp state, png_bytep target, std::size_t size) {
    auto& decoder = *static_cast<PngDecoder*>(png_get_io_ptr(state));
    if (size > decoder.left) png_error(state, "the file ends too early");
    std::memcpy(target, decoder.data, size);
    decoder.data += size;
    decoder.left -= size;
}

bool readHeader(PngDecoder& decoder) {
    if (setjmp(decoder.escape) != 0) return false;
    decoder.state = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, onError, onWarning);
    if (decoder.state == nullptr) return false;
    decoder.info = png_create_info_struct(decoder.state);
    if (decoder.info == nullptr) return false;
    png_set_user_limits(decoder.state, kMaxPngSide, kMaxPngSide);
    png_set_read_fn(decoder.state, &decoder, onRead);
    png_read_info(decoder.state, decoder.info);
    return true;
}

/// Reads the rows after the transformations are set. Ends in onError() if a row does not have `stride` bytes.
void readRows(PngDecoder& decoder, png_bytepp rows, std::size_t stride) {
    png_set_strip_alpha(decoder.state);
    png_set_interlace_handling(decoder.state);
    png_read_update_info(decoder.state, decoder.info);
    if (png_get_rowbytes(decoder.state, decoder.info) != stride)
        png_error(decoder.state, "unexpected pixel format");
    png_read_image(decoder.state, rows);
    png_read_end(decoder.state, nullptr);
}

/// `rows` point at width × 3 bytes each.
bool readPixels(PngDecoder& decoder, png_bytepp rows, std::size_t stride) {
    if (setjmp(decoder.escape) != 0) return false;
    const png_byte color = png_get_color_type(decoder.state, decoder.info);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(decoder.state);
    if (png_get_bit_depth(decoder.state, decoder.info) == 16) png_set_strip_16(decoder.state);
    if ((color & PNG_COLOR_MASK_COLOR) == 0) {
        png_set_expand_gray_1_2_4_to_8(decoder.state);
        png_set_gray_to_rgb(decoder.state);
    }
    readRows(decoder, rows, stride);
    return true;
}

/// `rows` point at `stride` bytes each: one per pixel, or two for 16 bits.
bool readIndices(PngDecoder& decoder, png_bytepp rows, std::size_t stride) {
    if (setjmp(decoder.escape) != 0) return false;
    png_set_packing(decoder.state);  // one byte per pixel, values unchanged
    readRows(decoder, rows, stride);
    return true;
}

[[noreturn]] void failPng(const PngDecoder& decoder) {
    failInput("the PNG is damaged or incomplete ({})", decoder.message);
}

}  // namespace

Image decodePng(const std::uint8_t* data, std::size_t size) {
    PngDecoder decoder;
    decoder.data = data;
    decoder.left = size;
    if (!readHeader(decoder)) failPng(decoder);
    Image image = allocateRgb(png_get_image_width(decoder.state, decoder.info),
                              png_get_image_height(decoder.state, decoder.info), size);
    const std::size_t stride = static_cast<std::size_t>(image.width) * 3;
    std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = image.pixels.data() + y * stride;
    if (!readPixels(decoder, rows.data(), stride)) failPng(decoder);
    return image;
}

LabelImage decodePngLabels(const std::uint8_t* data, std::size_t size) {
    PngDecoder decoder;
    decoder.data = data;
    decoder.left = size;
    if (!readHeader(decoder)) failPng(decoder);
    const bool palette = png_get_color_type(decoder.state, decoder.info) == PNG_COLOR_TYPE_PALETTE;
    if (!palette && (png_get_color_type(decoder.state, decoder.info) & PNG_COLOR_MASK_COLOR) != 0)
        failInput(
            "the image has colors instead of class indices: a label image is a gray or palette PNG whose "
            "values are classes");
    const png_uint_32 columns = png_get_image_width(decoder.state, decoder.info),
                      lines = png_get_image_height(decoder.state, decoder.info);
    requireImageSize(columns, lines, size);
    const std::size_t bytes = png_get_bit_depth(decoder.state, decoder.info) == 16 ? 2 : 1;
    const std::size_t width = columns, height = lines;
    std::vector<std::uint8_t> values(width * height * bytes);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = values.data() + y * width * bytes;
    if (!readIndices(decoder, rows.data(), width * bytes)) failPng(decoder);
    LabelImage labels{static_cast<int>(width), static_cast<int>(height),
                      std::vector<std::uint16_t>(width * height)};
    for (std::size_t i = 0; i < labels.classes.size(); ++i)
        labels.classes[i] =
            static_cast<std::uint16_t>(bytes == 1 ? values[i] : values[2 * i] << 8 | values[2 * i + 1]);
    return labels;
}

}  // namespace quantloupe
