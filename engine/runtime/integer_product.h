// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product of unsigned 8-bit codes and signed weights of up to 8 bits, summed exactly in 32 bits.
//
// With VNNI one instruction adds four products in 32 bits. Without, vpmaddubsw adds pairs of products in 16 bits, and our loop
// adds two such results before it widens them: 8-bit kernels built like that usually saturate (those of oneDNN 2.6 do, for weights
// beyond 7 bits), and their numbers differ from what the target computes. Here the weights that would leave 16 bits are taken out
// of the loop and added by vpmaddwd, which is exact; a panel of 16 columns with too many of them runs in vpmaddwd alone. What a
// panel does is decided from its weights once, so the sums are exact for any codes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/aligned.h"

namespace quantloupe {

/// How the sums of a row become its outputs: y = clamp((sum + offset[c]) * factor[c], low, high), rounded half to even and
/// shifted by `shift` to a code of 0 to 255, or stored as float32.
struct Requantization {
    std::vector<std::int32_t> offset;  ///< a column: bias minus zero point times the sum of the weights
    std::vector<float> factor;         ///< a column
    float low = 0, high = 0;
    float shift = 0;
    bool toFloat = false;
};

/// True if this processor can run the kernels below: runtime/integer_tiles.h.
bool integerKernelsAvailable();

class IntegerProduct {
  public:
    /// `weight` is row-major [depth, columns] with values in -128..127.
    IntegerProduct(std::span<const std::int8_t> weight, std::size_t depth, std::size_t columns,
                   Requantization requantization);

    std::size_t depth() const { return m_depth; }
    std::size_t columns() const { return m_columns; }
    /// The depth that rows must be readable for: a multiple of 8; what lies beyond depth() may have any value.
    std::size_t paddedDepth() const { return m_padded; }
    /// For run().
    std::size_t scratchBytes() const;
    std::size_t weightBytes() const { return m_bytes.size() + m_words.size() * 2; }

    static constexpr std::size_t kRows = 48;  ///< most rows of one run()

    /// rows <= kRows rows of codes, `rowStride` bytes apart; outputs `outputStride` elements apart.
    void run(const std::uint8_t* rows, std::size_t rowStride, std::size_t count, void* output, std::size_t outputStride,
             void* scratch) const;

  private:
    /// The weights of two neighbouring depths that a panel adds apart, 16 columns.
    struct Correction {
        std::size_t depth;
        std::size_t offset;  ///< in m_words
    };
    struct Panel {
        bool words = false;      ///< all in vpmaddwd
        std::size_t offset = 0;  ///< in m_bytes, or in m_words
        std::vector<Correction> corrections;
    };
    void addPanel(const std::vector<std::int8_t>& weight);

    std::size_t m_depth, m_padded, m_columns;
    std::vector<Panel> m_panels;
    AlignedVector<std::int8_t> m_bytes;
    AlignedVector<std::int16_t> m_words;
    Requantization m_requantization;  ///< padded to whole panels
    bool m_anyWords = false;
    bool m_saturating = false;  ///< the clamp is that of a byte
};

}  // namespace quantloupe
