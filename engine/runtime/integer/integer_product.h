// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product of unsigned 8-bit codes and signed weights of up to 8 bits, summed exactly in 32 bits, for
// processors with AVX2. Those with VNNI or AMX use SegmentedProduct.
//
// vpmaddubsw adds pairs of products in 16 bits, and our loop adds two such results before widening them.
// 8-bit kernels built in this way usually saturate (those of oneDNN 2.6 do for weights of more than 7 bits),
// so their results differ from the target's. Here, the weights that would overflow 16 bits are excluded from
// the loop and added with vpmaddwd, which is exact; a panel of 16 columns with too many such weights uses
// only vpmaddwd. A panel of small weights, for example of 4 bits, adds 16 results in 16 bits before widening
// them. This is decided once per panel from its weights, so the sums are exact for any codes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/aligned.h"

namespace quantloupe {

/// How the sums of a row are converted to outputs: y = clamp((sum + offset[c]) * factor[c], low, high),
/// rounded half to even and shifted by `shift` to a code from 0 to 255, or stored as float32.
struct Requantization {
    std::vector<std::int32_t> offset;  ///< per column: bias minus zero point times the sum of the weights
    std::vector<float> factor;         ///< per column
    float low = 0, high = 0;
    float shift = 0;
    bool toFloat = false;

    /// Whether the clamp equals the saturation of a byte when results are packed.
    bool clampSaturates() const;
};

/// Whether this processor can run the kernels below (AVX2).
bool integerKernelsAvailable();

class IntegerProduct {
  public:
    /// `weight` is row-major [depth, columns] with values in -128..127.
    IntegerProduct(std::span<const std::int8_t> weight, std::size_t depth, std::size_t columns,
                   Requantization requantization);

    std::size_t depth() const { return m_depth; }
    std::size_t columns() const { return m_columns; }
    /// The length to which rows must be readable: depth() rounded up to a multiple of 8. Values beyond
    /// depth() are ignored.
    std::size_t paddedDepth() const { return m_padded; }
    /// For run().
    std::size_t scratchBytes() const;
    std::size_t weightBytes() const { return m_bytes.size() + m_words.size() * 2; }

    static constexpr std::size_t kRows = 48;  ///< the maximum number of rows per run()

    /// Multiplies `count` <= kRows rows of codes, `rowStride` bytes apart; output rows are `outputStride`
    /// elements apart.
    void run(const std::uint8_t* rows, std::size_t rowStride, std::size_t count, void* output,
             std::size_t outputStride, void* scratch) const;

  private:
    /// The weights of two adjacent depths that a panel adds separately, 16 columns.
    struct Correction {
        std::size_t depth;
        std::size_t offset;  ///< in m_words
    };
    struct Panel {
        bool words = false;      ///< computed with vpmaddwd only
        bool small = false;      ///< computed with addSmallBytesAvx2()
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
    bool m_saturating = false;  ///< the clamp is the saturation of a byte
};

}  // namespace quantloupe
