// SPDX-License-Identifier: Apache-2.0
#pragma once
// A convolution of 8-bit codes, channels last, as one product: the padded image is laid out so that the
// windows of consecutive output pixels are equally far apart, and each line of a window is one segment of a
// row.

#include "runtime/integer/segmented_product.h"
#include "runtime/operators/window.h"

namespace quantloupe {

class SegmentedConvolution {
  public:
    /// Returns whether the layout pays off: there is no negative padding, and windows read most of the padded
    /// image. With large strides and dilations, they do not.
    static bool fits(std::int64_t channels, std::int64_t height, std::int64_t width, const Window& window);

    /// `weight` is [kernel height, kernel width, channels, columns]. `zero` is the code of 0.0, used for
    /// padding. Two spatial dimensions; requires fits().
    SegmentedConvolution(std::span<const std::int8_t> weight, std::int64_t channels, std::int64_t height,
                         std::int64_t width, const Window& window, std::size_t columns, std::uint8_t zero,
                         Requantization requantization, const SegmentTiles* tiles = nullptr);

    std::size_t scratchBytes() const;
    std::size_t weightBytes() const { return m_product.weightBytes(); }
    /// Runs one image: height x width x channels codes to the window's output.
    void run(const std::uint8_t* image, void* output, std::uint8_t* scratch) const;

  private:
    /// The padded image. With a vertical stride, lines that are read together are stored together: line y is
    /// line y / stride of plane y % stride. With a horizontal stride, widths are multiples of it. The padding
    /// after a line is also the padding before the next one, so lines overlap.
    struct Lines {
        std::size_t pixel;          ///< bytes
        std::size_t height, width;  ///< of the image
        std::size_t top, left;      ///< padding before the image
        std::size_t paddedHeight, paddedWidth, planeHeight;
        std::size_t pitch;  ///< pixels from one line to the next, at most paddedWidth
        std::size_t strideY, strideX;
        std::vector<bool> planes;  ///< those that are read

        Lines(std::int64_t channels, std::int64_t height, std::int64_t width, const Window& window);
        std::size_t bytes() const { return (strideY * planeHeight * pitch + paddedWidth - pitch) * pixel; }
        std::size_t at(std::size_t line) const {
            return (line % strideY * planeHeight + line / strideY) * pitch * pixel;
        }
    };
    static SegmentedProduct::Shape shapeOf(const Lines& lines, const Window& window, std::size_t columns);
    std::size_t pitch() const { return m_lines.pitch / m_lines.strideX; }

    Lines m_lines;
    std::size_t m_outputHeight, m_outputWidth;
    std::uint8_t m_zero;
    SegmentedProduct m_product;
};

}  // namespace quantloupe
