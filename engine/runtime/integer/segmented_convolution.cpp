// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/segmented_convolution.h"

#include <algorithm>
#include <cstring>

#include "runtime/aligned.h"

namespace quantloupe {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// The extent that the windows cover.
std::size_t covered(const Window& w, std::size_t axis) {
    return size((w.output[axis] - 1) * w.strides[axis] + (w.kernel[axis] - 1) * w.dilations[axis] + 1);
}

}  // namespace

SegmentedConvolution::Lines::Lines(std::int64_t channels, std::int64_t imageHeight, std::int64_t imageWidth,
                                   const Window& window)
    : pixel(size(channels)),
      height(size(imageHeight)),
      width(size(imageWidth)),
      top(size(window.padBegin[0])),
      left(size(window.padBegin[1])),
      strideY(size(window.strides[0])),
      strideX(size(window.strides[1])) {
    paddedHeight = covered(window, 0);
    paddedWidth = roundUp(covered(window, 1), strideX);
    planeHeight = (paddedHeight + strideY - 1) / strideY;
    const std::size_t before = std::min(left, paddedWidth),
                      after = paddedWidth - before - std::min(width, paddedWidth - before);
    pitch =
        std::max(roundUp(paddedWidth - std::min(before, after), strideX), size(window.output[1]) * strideX);
    planes.resize(strideY, false);
    for (std::int64_t i = 0; i < window.kernel[0]; ++i)
        planes[size(i * window.dilations[0]) % strideY] = true;
}

bool SegmentedConvolution::fits(std::int64_t channels, std::int64_t height, std::int64_t width,
                                const Window& window) {
    if (window.padBegin[0] < 0 || window.padBegin[1] < 0) return false;
    const Lines lines(channels, height, width, window);
    // With a dilation, rows between the last output of a line and the first output of the next line are also
    // computed.
    const bool dense = lines.pitch / lines.strideX <= 2 * size(window.output[1]) + 2;
    return dense && lines.bytes() <= 4 * covered(window, 0) * covered(window, 1) * lines.pixel;
}

SegmentedProduct::Shape SegmentedConvolution::shapeOf(const Lines& lines, const Window& window,
                                                      std::size_t columns) {
    SegmentedProduct::Shape shape;
    shape.segments.clear();
    const bool contiguous = window.dilations[1] == 1;
    for (std::int64_t i = 0; i < window.kernel[0]; ++i)
        for (std::int64_t j = 0; j < (contiguous ? 1 : window.kernel[1]); ++j)
            shape.segments.push_back(static_cast<std::ptrdiff_t>(
                lines.at(size(i * window.dilations[0])) + size(j * window.dilations[1]) * lines.pixel));
    shape.segmentDepth = lines.pixel * (contiguous ? size(window.kernel[1]) : 1);
    shape.columns = columns;
    shape.stride = lines.strideX * lines.pixel;
    shape.rowsAtOnce = size(window.output[0] * window.output[1]);
    return shape;
}

SegmentedConvolution::SegmentedConvolution(std::span<const std::int8_t> weight, std::int64_t channels,
                                           std::int64_t height, std::int64_t width, const Window& window,
                                           std::size_t columns, std::uint8_t zero,
                                           Requantization requantization, const SegmentTiles* tiles)
    : m_lines(channels, height, width, window),
      m_outputHeight(size(window.output[0])),
      m_outputWidth(size(window.output[1])),
      m_zero(zero),
      m_product(weight, shapeOf(m_lines, window, columns), std::move(requantization), tiles) {}

std::size_t SegmentedConvolution::scratchBytes() const {
    return m_lines.bytes() + m_product.spareRows() * m_lines.strideX * m_lines.pixel +
           SegmentedProduct::kSpareBytes;
}

void SegmentedConvolution::run(const std::uint8_t* image, void* output, std::uint8_t* scratch) const {
    const Lines& l = m_lines;
    const std::size_t lineBytes = l.paddedWidth * l.pixel, left = std::min(l.left, l.paddedWidth) * l.pixel,
                      copied = std::min(l.width * l.pixel, lineBytes - left),
                      right = lineBytes - left - copied;
    for (std::size_t line = 0; line < l.paddedHeight; ++line) {
        if (!l.planes[line % l.strideY]) continue;
        std::uint8_t* to = scratch + l.at(line);
        if (line < l.top || line >= l.top + l.height) {
            std::memset(to, m_zero, lineBytes);
            continue;
        }
        std::memset(to, m_zero, left);
        std::memcpy(to + left, image + (line - l.top) * l.width * l.pixel, copied);
        std::memset(to + left + copied, m_zero, right);
    }
    m_product.run({scratch, (m_outputHeight - 1) * pitch() + m_outputWidth, pitch(), m_outputWidth}, output);
}

}  // namespace quantloupe
