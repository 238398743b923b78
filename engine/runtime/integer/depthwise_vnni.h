// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depthwise convolution of 8-bit codes with AVX-512 VNNI: the taps of four kernel rows are interleaved, so
// that one instruction adds four products of 16 channels in 32 bits. Exact. Channels last.

#include <span>

#include "runtime/aligned.h"
#include "runtime/integer/integer_product.h"
#include "runtime/operators/window.h"

namespace quantloupe {

class DepthwiseVnni {
  public:
    /// Whether this processor can run it.
    static bool available();

    /// `weight` is [taps, channels], the taps row-major over the kernel. `zero` is the code of 0.0.
    DepthwiseVnni(std::span<const std::int8_t> weight, std::size_t channels, const Window& window,
                  std::uint8_t zero, const Requantization& requantization);

    std::size_t scratchBytes() const { return m_columns * m_groups * kGroupBytes; }
    std::size_t weightBytes() const { return m_weight.size() + (m_offset.size() + m_factor.size()) * 4; }
    /// Runs one image: height x width x channels codes to the window's output. Two spatial dimensions.
    /// `scratch` is 64-byte aligned.
    void run(const std::uint8_t* image, std::int64_t height, std::int64_t width, void* output,
             std::uint8_t* scratch) const;

  private:
    static constexpr std::size_t kBlock = 64;                        ///< channels
    static constexpr std::size_t kGroupBytes = std::size_t{4} * 64;  ///< four taps of a block

    void interleave(const std::uint8_t* image, std::int64_t height, std::int64_t width, std::int64_t row,
                    std::size_t channel, std::uint8_t* columns) const;
    template <bool Small>
    void pixels(std::size_t block, const std::uint8_t* columns, std::byte* output) const;

    std::size_t m_channels;
    Window m_window;
    std::uint8_t m_zero;
    std::size_t m_columns;  ///< pixels of a padded line
    std::size_t m_groups;   ///< of four kernel rows
    AlignedVector<std::int8_t>
        m_weight;  ///< [block][kernel column][group][64 channels][4 rows], in the interleaved order
    AlignedVector<std::int32_t> m_offset;  ///< [block][64], in the interleaved order
    AlignedVector<float> m_factor;
    float m_low, m_high;
    std::int16_t m_shift;
    bool m_toFloat, m_saturating;
};

}  // namespace quantloupe
