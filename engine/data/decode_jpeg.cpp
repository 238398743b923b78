// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg. It reports errors through a callback that must not return, so both phases (header, pixels)
// run under setjmp in functions that own nothing; objects with destructors are owned by the caller. For
// libjpeg, truncated or damaged image data is only a warning, and it fills the rest with gray. Here it is an
// error.

#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it first

#include "base/error.h"
#include "data/image_codecs.h"

namespace quantloupe {

namespace {

constexpr int kMaxScans = 500;  // real progressive files have about ten; hostile ones cost seconds per scan

/// libjpeg's state and the data of our callbacks.
struct Decoder {
    jpeg_decompress_struct state{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf escape{};
    char message[JMSG_LENGTH_MAX] = {};

    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() { jpeg_destroy_decompress(&state); }
};

Decoder& decoderOf(j_common_ptr state) { return *static_cast<Decoder*>(state->client_data); }

void onError(j_common_ptr state) {
    Decoder& decoder = decoderOf(state);
    state->err->format_message(state, decoder.message);
    std::longjmp(decoder.escape, 1);
}

void onMessage(j_common_ptr state, int level) {
    if (level >= 0) return;  // a trace
    switch (state->err->msg_code) {
        case JWRN_JPEG_EOF:
        case JWRN_HIT_MARKER:
        case JWRN_HUFF_BAD_CODE:
        case JWRN_MUST_RESYNC:
            onError(state);
            return;
        default:
            return;  // oddities that leave the pixels right, such as bytes between segments
    }
}

void onProgress(j_common_ptr state) {
    Decoder& decoder = decoderOf(state);
    if (decoder.state.input_scan_number <= kMaxScans) return;
    std::snprintf(decoder.message, sizeof decoder.message, "more than %d scans", kMaxScans);
    std::longjmp(decoder.escape, 1);
}

bool readHeader(Decoder& decoder, const std::uint8_t* data, std::size_t size) {
    if (setjmp(decoder.escape) != 0) return false;
    decoder.state.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = onError;
    decoder.errors.emit_message = onMessage;
    decoder.errors.output_message = [](j_common_ptr) {};
    decoder.state.client_data = &decoder;
    jpeg_create_decompress(&decoder.state);
    decoder.progress.progress_monitor = onProgress;
    decoder.state.progress = &decoder.progress;
    jpeg_mem_src(&decoder.state, data, static_cast<unsigned long>(size));
    jpeg_read_header(&decoder.state, TRUE);
    return true;
}

bool readPixels(Decoder& decoder, std::uint8_t* pixels, std::size_t stride) {
    if (setjmp(decoder.escape) != 0) return false;
    decoder.state.out_color_space = JCS_RGB;
    decoder.state.dct_method = JDCT_ISLOW;
    decoder.state.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&decoder.state);
    while (decoder.state.output_scanline < decoder.state.output_height) {
        JSAMPROW row = pixels + decoder.state.output_scanline * stride;
        jpeg_read_scanlines(&decoder.state, &row, 1);
    }
    jpeg_finish_decompress(&decoder.state);
    return true;
}

[[noreturn]] void failDecoding(const Decoder& decoder) {
    failInput("the JPEG is damaged or incomplete ({})", decoder.message);
}

}  // namespace

Image decodeJpeg(const std::uint8_t* data, std::size_t size) {
    Decoder decoder;
    if (!readHeader(decoder, data, size)) failDecoding(decoder);
    if (decoder.state.jpeg_color_space == JCS_CMYK || decoder.state.jpeg_color_space == JCS_YCCK)
        failInput("this is a CMYK JPEG: convert it to RGB");
    Image image = allocateRgb(decoder.state.image_width, decoder.state.image_height, size);
    if (!readPixels(decoder, image.pixels.data(), static_cast<std::size_t>(image.width) * 3))
        failDecoding(decoder);
    return image;
}

}  // namespace quantloupe
