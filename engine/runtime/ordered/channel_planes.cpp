// SPDX-License-Identifier: Apache-2.0
#include "runtime/ordered/channel_planes.h"

#include <algorithm>

#include "runtime/ordered/matrix_product.h"
#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {
namespace {

/// Bands of at most kMostRowsTogether outputs.
std::vector<OutputBand> bandsOf(const ConvolutionGeometry& g, std::size_t images) {
    const std::size_t lines = g.output[1], columns = g.output[2];
    const std::size_t whole = kMostRowsTogether / (lines * columns);
    const EvenParts imageParts(images, std::max<std::size_t>(1, whole)),
        lineParts(lines, whole > 0 ? lines : std::max<std::size_t>(1, kMostRowsTogether / columns)),
        columnParts(columns, kMostRowsTogether);
    std::vector<OutputBand> bands;
    for (std::size_t i = 0; i < imageParts.parts(); ++i)
        for (std::size_t l = 0; l < lineParts.parts(); ++l)
            for (std::size_t c = 0; c < columnParts.parts(); ++c)
                bands.push_back({imageParts.begin(i), imageParts.begin(i + 1) - imageParts.begin(i),
                                 lineParts.begin(l), lineParts.begin(l + 1) - lineParts.begin(l),
                                 columnParts.begin(c), columnParts.begin(c + 1) - columnParts.begin(c)});
    return bands;
}

}  // namespace

bool ChannelPlanes::suits(const ConvolutionGeometry& g) {
    constexpr std::size_t kLeastRows = 4;  // with fewer rows, tiles wait for the latency of their sums
    const std::size_t columns = std::min(g.output[2], kMostRowsTogether);
    return g.input[0] == 1 && g.kernel[0] == 1 && g.output[0] == 1 && g.outputPixels() > 1 &&
           static_cast<std::ptrdiff_t>(g.kernel[2]) > g.stride[2] &&
           columns / EvenParts(columns, tiles().rows).parts() >= kLeastRows;
}

ChannelPlanes::ChannelPlanes(const ConvolutionGeometry& geometry, std::size_t images, std::size_t channels,
                             std::size_t pixelStride)
    : m_geometry(geometry),
      m_channels(channels),
      m_pixelStride(pixelStride),
      m_bands(bandsOf(geometry, images)),
      m_zeros(channels, 0.0f) {
    const auto size = [](std::ptrdiff_t n) { return static_cast<std::size_t>(n); };
    const ConvolutionGeometry& g = m_geometry;
    std::size_t mostImages = 1, mostLines = 1, mostColumns = 1;
    for (const OutputBand& band : m_bands) {
        mostImages = std::max(mostImages, band.images);
        mostLines = std::max(mostLines, band.lines);
        mostColumns = std::max(mostColumns, band.columns);
    }
    // Columns that the same tap reads for adjacent outputs are adjacent: with a stride of 2, first the even
    // ones.
    const std::size_t stride = size(g.stride[2]), reach = (g.kernel[2] - 1) * size(g.dilation[2]);
    m_phaseWidth = mostColumns + reach / stride;
    m_pitch = m_phaseWidth * stride;
    m_inputRows = (mostLines - 1) * size(g.stride[1]) + (g.kernel[1] - 1) * size(g.dilation[1]) + 1;
    // An odd number of cache lines, so that the planes do not compete for the same places in the cache.
    const std::size_t lines = (mostImages * m_inputRows * m_pitch + kLineFloats - 1) / kLineFloats;
    m_planeStride = (lines | 1) * kLineFloats;
    for (std::size_t c = 0; c < m_channels; ++c)
        for (std::size_t y = 0; y < g.kernel[1]; ++y)
            for (std::size_t x = 0; x < g.kernel[2]; ++x) {
                const std::size_t column = x * size(g.dilation[2]);
                m_offsets.push_back(
                    static_cast<std::uint32_t>(c * m_planeStride + y * size(g.dilation[1]) * m_pitch +
                                               column % stride * m_phaseWidth + column / stride));
            }
}

void ChannelPlanes::fill(const OutputBand& band, const float* in, float* planes) const {
    const ConvolutionGeometry& g = m_geometry;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(band.line) * g.stride[1] - g.pad[1];
    const std::size_t rows = (band.lines - 1) * static_cast<std::size_t>(g.stride[1]) +
                             (g.kernel[1] - 1) * static_cast<std::size_t>(g.dilation[1]) + 1;
    for (std::size_t i = 0; i < band.images; ++i)
        for (std::size_t r = 0; r < rows; ++r)
            fillRow(in + (band.image + i) * g.inputPixels() * m_pixelStride,
                    first + static_cast<std::ptrdiff_t>(r), band, planes + (i * m_inputRows + r) * m_pitch);
}

void ChannelPlanes::fillRow(const float* image, std::ptrdiff_t row, const OutputBand& band, float* to) const {
    const ConvolutionGeometry& g = m_geometry;
    const auto width = static_cast<std::ptrdiff_t>(g.input[2]);
    const bool inside = row >= 0 && row < static_cast<std::ptrdiff_t>(g.input[1]);
    const std::size_t count = m_phaseWidth;
    std::vector<const float*> pixels(count);
    for (std::ptrdiff_t phase = 0; phase < g.stride[2]; ++phase, to += m_phaseWidth) {
        for (std::size_t j = 0; j < count; ++j) {
            const std::ptrdiff_t x =
                static_cast<std::ptrdiff_t>(band.column + j) * g.stride[2] + phase - g.pad[2];
            pixels[j] = !inside || x < 0 || x >= width
                            ? m_zeros.data()
                            : image + static_cast<std::size_t>(row * width + x) * m_pixelStride;
        }
        tiles().interleave({pixels.data(), count, m_channels, to, m_planeStride});
    }
}

std::vector<std::size_t> ChannelPlanes::lineStarts(const OutputBand& band) const {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < band.images; ++i)
        for (std::size_t l = 0; l < band.lines; ++l)
            starts.push_back((i * m_inputRows + l * static_cast<std::size_t>(m_geometry.stride[1])) *
                             m_pitch);
    return starts;
}

}  // namespace quantloupe
