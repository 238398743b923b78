// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product of unsigned 8-bit codes and signed weights of up to 8 bits, summed exactly in 32 bits, for processors with
// AVX2 but without VNNI. (There the 8-bit kernels of oneDNN 2.6 add pairs of products in 16 bits and saturate for weights
// beyond 7 bits: the numbers would differ from what the target computes.)
//
// Inner loops over panels of 16 columns: vpmaddubsw makes 32 products an instruction and adds them in pairs in 16 bits; where
// the weights allow it, 2 or 4 such results are added before they are widened. Weights that would leave 16 bits are taken
// out of this loop and added by vpmaddwd, which is exact; a panel with too many of them runs in vpmaddwd alone. What a panel does is
// decided from its weights once, so the sums are exact for any codes.

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

/// True if this processor can run the kernels below.
bool integerKernelsAvailable();

class IntegerProduct {
  public:
    /// `weight` is row-major [depth, columns] with values in -128..127.
    IntegerProduct(std::span<const std::int8_t> weight, std::size_t depth, std::size_t columns,
                   Requantization requantization);

    std::size_t depth() const { return m_depth; }
    std::size_t columns() const { return m_columns; }
    /// The depth that rows must be readable for: a multiple of 4; what lies beyond depth() may have any value.
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
        int together = 0;        ///< 1, 2, 4: results of vpmaddubsw added in 16 bits; 0: all in vpmaddwd
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
};

}  // namespace quantloupe
