// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depthwise convolution of 8-bit codes, summed exactly in 32 bits: two taps of 16 channels per step
// (vpmaddwd). Channels last.

#include <span>

#include "runtime/integer/integer_product.h"
#include "runtime/operators/window.h"

namespace quantloupe {

class IntegerDepthwise {
  public:
    /// `weight` is [taps, channels], the taps row-major over the kernel; at least 16 channels. `zero` is the
    /// code of 0.0.
    IntegerDepthwise(std::span<const std::int8_t> weight, std::size_t channels, const Window& window,
                     std::uint8_t zero, Requantization requantization);

    /// Runs one image: height x width x channels codes to the window's output. Two spatial dimensions.
    void run(const std::uint8_t* image, std::int64_t height, std::int64_t width, void* output) const;

    std::size_t weightBytes() const { return m_weight.size() * 2 + (m_offset.size() + m_factor.size()) * 4; }

  private:
    std::size_t m_channels, m_taps;
    Window m_window;
    std::vector<std::uint8_t> m_zeros;     ///< a pixel of zeros, for the padding
    std::vector<std::size_t> m_blocks;     ///< first channel of each block of 16; the last may overlap
    AlignedVector<std::int16_t> m_weight;  ///< [block][tap pair][32]
    AlignedVector<std::int32_t> m_offset;  ///< [block][16], in the order of the unpacked lanes
    AlignedVector<float> m_factor;
    Requantization m_requantization;
};

}  // namespace quantloupe
