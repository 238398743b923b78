// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of parts of an image, in which each channel is a plane: the outputs of a line read adjacent values,
// and each pixel is copied once for all windows of the part that contain it.

#include <cstdint>
#include <vector>

#include "runtime/aligned.h"
#include "runtime/operators/convolution_geometry.h"

namespace quantloupe {

/// Output pixels that are computed together: some lines of an image, a part of a line, or several images.
struct OutputBand {
    std::size_t image, images, line, lines, column, columns;
    std::size_t rows() const { return images * lines * columns; }
};

class ChannelPlanes {
  public:
    /// Whether the windows overlap and lines are long enough for the tiles.
    static bool suits(const ConvolutionGeometry& geometry);
    /// `channels` of the `pixelStride` channels of a pixel are copied.
    ChannelPlanes(const ConvolutionGeometry& geometry, std::size_t images, std::size_t channels,
                  std::size_t pixelStride);

    const std::vector<OutputBand>& bands() const { return m_bands; }
    std::size_t floats() const { return m_channels * m_planeStride; }
    /// Copies the input pixels in the windows of a band. `in` points to the first channel of the first image.
    void fill(const OutputBand& band, const float* in, float* planes) const;
    /// [channel][tap]: the distance from the first value of an output's window to this one.
    const std::uint32_t* offsets() const { return m_offsets.data(); }
    /// [image of the band][line]: the first value in the window of the first output of a line.
    std::vector<std::size_t> lineStarts(const OutputBand& band) const;

  private:
    /// Copies one row of the input to one row of each plane.
    void fillRow(const float* image, std::ptrdiff_t row, const OutputBand& band, float* to) const;

    ConvolutionGeometry m_geometry;
    std::size_t m_channels, m_pixelStride;
    std::vector<OutputBand> m_bands;
    std::size_t m_phaseWidth, m_pitch, m_inputRows, m_planeStride;
    std::vector<std::uint32_t> m_offsets;
    AlignedVector<float> m_zeros;
};

}  // namespace quantloupe
