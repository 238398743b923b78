// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tensor makes of its quantizer: how much is clipped and how many of the codes occur. Streamed, mergeable.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/fake_quant.h"

namespace quantloupe {

class CodeUsage {
  public:
    /// Codes are counted from quant_min - zero_point to quant_max - zero_point: `quant`'s low to high. At most 2^16 of
    /// them; throws Error for more, and for a scale that is not positive.
    explicit CodeUsage(const FakeQuant& quant);

    /// Values before the quantizer. One is clipped if it lies so far outside the representable range
    /// (low * scale to high * scale) that its rounded code does; NaN is counted apart.
    void add(const float* values, std::size_t count);
    /// Codes with `zero_point` still in them, as a quantized weight holds them. A code outside the range is clipped.
    void addCodes(std::span<const std::int32_t> codes, std::int32_t zeroPoint);
    /// Throws Error unless the quantizer is the same.
    void merge(const CodeUsage& other);

    const std::vector<std::uint64_t>& counts() const { return m_counts; }  ///< a code; clipped ones at both ends
    std::uint64_t count() const { return m_count; }                        ///< of values that are not NaN
    std::uint64_t notANumber() const { return m_notANumber; }
    double clippedFraction() const;  ///< 0 to 1; 0 without values
    std::size_t distinctCodes() const;
    /// log2 of the distinct codes: at most the quantizer's bits. 0 without values.
    double effectiveBits() const;

  private:
    FakeQuant m_quant;
    std::vector<std::uint64_t> m_counts;
    std::uint64_t m_count = 0, m_clipped = 0, m_notANumber = 0;
};

}  // namespace quantloupe
