// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers in as few bytes as their range needs. Most are the codes of weights, of which large networks have
// billions.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace quantloupe {

class CompactIntegers {
  public:
    CompactIntegers() = default;
    /// `count` zeros; all values that are set later must be in least..most.
    CompactIntegers(std::size_t count, std::int32_t least, std::int32_t most)
        : m_width(fits<std::int8_t>(least, most)    ? 1
                  : fits<std::int16_t>(least, most) ? 2
                                                    : 4),
          m_bytes(count * m_width) {}
    explicit CompactIntegers(std::span<const std::int32_t> values);

    std::size_t size() const { return m_bytes.size() / m_width; }
    bool empty() const { return m_bytes.empty(); }
    std::size_t bytes() const { return m_bytes.size(); }

    std::vector<std::int32_t> values() const;
    std::int32_t operator[](std::size_t i) const {
        return m_width == 1 ? at<std::int8_t>(i) : m_width == 2 ? at<std::int16_t>(i) : at<std::int32_t>(i);
    }
    void set(std::size_t i, std::int32_t value) {
        assert(i < size());
        if (m_width == 1)
            put<std::int8_t>(i, value);
        else if (m_width == 2)
            put<std::int16_t>(i, value);
        else
            put<std::int32_t>(i, value);
    }

  private:
    template <typename T>
    static bool fits(std::int32_t least, std::int32_t most) {
        return static_cast<T>(least) == least && static_cast<T>(most) == most;
    }
    template <typename T>
    std::int32_t at(std::size_t i) const {
        T value;
        std::memcpy(&value, m_bytes.data() + i * sizeof(T), sizeof(T));
        return value;
    }
    template <typename T>
    void put(std::size_t i, std::int32_t value) {
        const T stored = static_cast<T>(value);
        assert(stored == value);
        std::memcpy(m_bytes.data() + i * sizeof(T), &stored, sizeof(T));
    }

    std::size_t m_width = 4;  ///< bytes per value
    std::vector<std::byte> m_bytes;
};

}  // namespace quantloupe
