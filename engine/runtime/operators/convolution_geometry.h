// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input pixels in the window of each output pixel, channels last, for up to three spatial dimensions
// (leading ones are 1 if there are fewer).

#include <cstddef>
#include <vector>

#include "runtime/ordered/ordered_product.h"

namespace quantloupe {

struct ConvolutionGeometry {
    std::size_t input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
    std::ptrdiff_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {0, 0, 0};

    explicit ConvolutionGeometry(const ConvolutionSpec& spec) {
        const std::size_t rank = spec.window.kernel.size();
        for (std::size_t d = 0; d < rank; ++d) {
            const std::size_t to = 3 - rank + d;
            input[to] = static_cast<std::size_t>(spec.input.dims[2 + d]);
            output[to] = static_cast<std::size_t>(spec.window.output[d]);
            kernel[to] = static_cast<std::size_t>(spec.window.kernel[d]);
            stride[to] = spec.window.strides[d];
            dilation[to] = spec.window.dilations[d];
            pad[to] = spec.window.padBegin[d];
        }
    }
    std::size_t inputPixels() const { return input[0] * input[1] * input[2]; }
    std::size_t outputPixels() const { return output[0] * output[1] * output[2]; }
    std::size_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    /// Whether the window lies once on the whole input.
    bool coversInput() const {
        for (std::size_t d = 0; d < 3; ++d)
            if (output[d] != 1 || pad[d] != 0 || kernel[d] != input[d] || dilation[d] != 1) return false;
        return true;
    }
    /// Whether every output pixel reads only the input pixel at the same position.
    bool isPointwise() const {
        for (std::size_t d = 0; d < 3; ++d)
            if (kernel[d] != 1 || stride[d] != 1 || pad[d] != 0 || input[d] != output[d]) return false;
        return true;
    }
};

/// Iterates over output pixels.
class WindowWalk {
  public:
    explicit WindowWalk(const ConvolutionGeometry& geometry)
        : m_geometry(geometry), m_rows(geometry.kernel[0] * geometry.kernel[1]), m_taps(geometry.taps()) {}

    /// The input pixel under each tap of output pixel `pixel`; -1 in the padding.
    const std::vector<std::ptrdiff_t>& at(std::size_t pixel) {
        const ConvolutionGeometry& g = m_geometry;
        const std::size_t row = pixel / g.output[2];
        if (row != m_row) enterRow(row);
        const std::ptrdiff_t start =
            static_cast<std::ptrdiff_t>(pixel - row * g.output[2]) * g.stride[2] - g.pad[2];
        const auto width = static_cast<std::ptrdiff_t>(g.input[2]);
        std::ptrdiff_t* tap = m_taps.data();
        for (const std::ptrdiff_t first : m_rows)
            for (std::size_t x = 0; x < g.kernel[2]; ++x) {
                const std::ptrdiff_t column = start + static_cast<std::ptrdiff_t>(x) * g.dilation[2];
                *tap++ = first < 0 || column < 0 || column >= width ? -1 : first + column;
            }
        return m_taps;
    }

  private:
    void enterRow(std::size_t row) {
        const ConvolutionGeometry& g = m_geometry;
        m_row = row;
        const std::size_t at[2] = {row / g.output[1], row % g.output[1]};
        std::size_t i = 0;
        for (std::size_t z = 0; z < g.kernel[0]; ++z)
            for (std::size_t y = 0; y < g.kernel[1]; ++y) {
                const std::ptrdiff_t plane = inputOf(0, at[0], z), line = inputOf(1, at[1], y);
                m_rows[i++] = plane < 0 || line < 0
                                  ? -1
                                  : (plane * static_cast<std::ptrdiff_t>(g.input[1]) + line) *
                                        static_cast<std::ptrdiff_t>(g.input[2]);
            }
    }
    std::ptrdiff_t inputOf(std::size_t d, std::size_t output, std::size_t tap) const {
        const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(output) * m_geometry.stride[d] -
                                 m_geometry.pad[d] +
                                 static_cast<std::ptrdiff_t>(tap) * m_geometry.dilation[d];
        return i < static_cast<std::ptrdiff_t>(m_geometry.input[d]) ? i : -1;
    }

    const ConvolutionGeometry& m_geometry;
    std::size_t m_row = static_cast<std::size_t>(-1);
    std::vector<std::ptrdiff_t>
        m_rows;  ///< for each kernel row: the first input pixel of the row under it, -1 in the padding
    std::vector<std::ptrdiff_t> m_taps;
};

}  // namespace quantloupe
