// SPDX-License-Identifier: Apache-2.0
#pragma once
// How well a tensor uses its quantizer: the fraction of clipped values and the number of codes that occur.
// Streamed and mergeable.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/integer/fake_quant.h"

namespace quantloupe {

class CodeUsage {
  public:
    /// Codes are counted from quant_min - zero_point to quant_max - zero_point, the range low to high of
    /// `quant`. Throws Error for more than 2^16 codes or a scale that is not positive.
    explicit CodeUsage(const FakeQuant& quant);

    /// Adds values before the quantizer. A value is clipped if its rounded code is outside the range. NaN is
    /// counted separately.
    void add(const float* values, std::size_t count);
    /// Adds stored codes, which include the zero point, of a quantized weight. A code outside the range is
    /// clipped.
    void addCodes(std::span<const std::int32_t> codes, std::int32_t zeroPoint);
    /// Adds the counts of another instance. Throws Error unless the quantizer is the same.
    void merge(const CodeUsage& other);

    /// One per code; clipped values count at both ends.
    const std::vector<std::uint64_t>& counts() const { return m_counts; }
    /// Number of values that are not NaN.
    std::uint64_t count() const { return m_count; }
    double clippedFraction() const;  ///< 0 to 1; 0 without values
    std::size_t distinctCodes() const;
    /// Returns log2(distinctCodes()), which is at most the quantizer's bits. 0 without values.
    double effectiveBits() const;

  private:
    FakeQuant m_quant;
    std::vector<std::uint64_t> m_counts;
    std::uint64_t m_count = 0, m_clipped = 0;
};

}  // namespace quantloupe
