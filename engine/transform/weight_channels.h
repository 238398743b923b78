// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input and output channels of a layer's weight, counted over all groups.

#include <cstddef>

#include "transform/weight_layout.h"

namespace quantloupe {

/// The input and output channel of the weights at [first, second, ...] of the first two axes.
class WeightChannels {
  public:
    explicit WeightChannels(const WeightLayout& layout)
        : m_outputFirst(layout.outputAxis == 0),
          m_first(static_cast<std::size_t>(layout.dims[0])),
          m_second(static_cast<std::size_t>(layout.dims[1])),
          m_perGroup(m_first / static_cast<std::size_t>(layout.groups)) {}

    std::size_t first() const { return m_first; }
    std::size_t second() const { return m_second; }
    std::size_t output(std::size_t first, std::size_t second) const {
        return m_outputFirst ? first : other(first, second);
    }
    std::size_t input(std::size_t first, std::size_t second) const {
        return m_outputFirst ? other(first, second) : first;
    }
    /// Whether the first axis runs over outputs.
    bool outputFirst() const { return m_outputFirst; }
    /// The channel of the second axis with which row `first` starts, counted over all groups.
    std::size_t otherStart(std::size_t first) const { return first / m_perGroup * m_second; }

  private:
    std::size_t other(std::size_t first, std::size_t second) const { return otherStart(first) + second; }

    bool m_outputFirst;
    std::size_t m_first, m_second, m_perGroup;
};

inline std::size_t outputCount(const WeightLayout& layout) {
    return static_cast<std::size_t>(layout.outputAxis == 0 ? layout.dims[0] : layout.dims[1] * layout.groups);
}
inline std::size_t inputCount(const WeightLayout& layout) {
    if (layout.depthwise) return static_cast<std::size_t>(layout.dims[0]);
    return static_cast<std::size_t>(layout.outputAxis == 0 ? layout.dims[1] * layout.groups : layout.dims[0]);
}

}  // namespace quantloupe
