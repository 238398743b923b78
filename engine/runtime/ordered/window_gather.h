// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies the pixels in the windows of a convolution, so that the products of several outputs are computed
// together. Internal to engine/runtime/ordered.

#include <algorithm>
#include <vector>

#include "runtime/aligned.h"
#include "runtime/operators/convolution_geometry.h"
#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {

/// `images` × input pixels × channels in memory. Must not outlive the geometry.
class WindowGather {
  public:
    WindowGather(const ConvolutionGeometry& geometry, std::size_t channels, std::size_t perGroup)
        : m_geometry(geometry), m_channels(channels), m_perGroup(perGroup), m_zeros(perGroup, 0.0f) {}

    /// State of one thread.
    struct Walk {
        explicit Walk(const ConvolutionGeometry& geometry) : window(geometry) {}
        WindowWalk window;
        std::vector<const float*> pixels = {};  ///< [tap][row]
    };

    /// Writes [channel of the group][tap][row] for `rows` outputs from `first` on, counted over all images;
    /// of these, only `present` exist, and the others are 0. `in`: the group's first channel of the first
    /// pixel.
    void gather(const float* in, std::size_t first, std::size_t present, std::size_t rows, Walk& walk,
                float* to) const {
        const std::size_t outputs = m_geometry.outputPixels(), inputs = m_geometry.inputPixels(),
                          taps = m_geometry.taps();
        walk.pixels.assign(taps * rows, m_zeros.data());
        for (std::size_t r = 0; r < present; ++r) {
            const std::size_t image = (first + r) / outputs;
            const float* start = in + image * inputs * m_channels;
            const auto& located = walk.window.at(first + r - image * outputs);
            for (std::size_t t = 0; t < taps; ++t)
                if (located[t] >= 0)
                    walk.pixels[t * rows + r] = start + static_cast<std::size_t>(located[t]) * m_channels;
        }
        interleave(walk.pixels, rows, to);
    }

  private:
    void interleave(std::vector<const float*>& pixels, std::size_t rows, float* to) const {
        constexpr std::size_t kTogether = 64;  // channels whose results stay in the L1 cache
        const std::size_t taps = m_geometry.taps();
        InterleaveArguments block;
        block.rows = rows;
        block.step = taps * rows;
        for (std::size_t c = 0; c < m_perGroup; c += block.channels) {
            block.channels = std::min(kTogether, m_perGroup - c);
            for (std::size_t t = 0; t < taps; ++t) {
                block.from = pixels.data() + t * rows;
                block.to = to + (c * taps + t) * rows;
                tiles().interleave(block);
            }
            for (const float*& pixel : pixels) pixel += block.channels;
        }
    }

    const ConvolutionGeometry& m_geometry;
    std::size_t m_channels, m_perGroup;
    AlignedVector<float> m_zeros;  ///< a pixel in the padding
};

}  // namespace quantloupe
