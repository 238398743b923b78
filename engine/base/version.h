// SPDX-License-Identifier: Apache-2.0
#pragma once
// A 128-bit hash of the inputs of a result: results with equal versions are equal.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

struct XXH3_state_s;

namespace quantloupe {

struct Version {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    auto operator<=>(const Version&) const = default;
    std::string hex() const;
};

/// Hashes everything that a result depends on. The order of the calls matters.
class VersionBuilder {
  public:
    VersionBuilder();
    ~VersionBuilder();
    VersionBuilder(const VersionBuilder&) = delete;
    VersionBuilder& operator=(const VersionBuilder&) = delete;

    VersionBuilder& addBytes(const void* data, std::size_t size);
    VersionBuilder& add(std::string_view text);
    VersionBuilder& add(const Version& version);
    template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) VersionBuilder& add(T value) {
        return addBytes(&value, sizeof value);
    }
    Version finish() const;

  private:
    std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> m_state;
};

}  // namespace quantloupe

template <>
struct std::hash<quantloupe::Version> {
    std::size_t operator()(const quantloupe::Version& v) const noexcept { return v.low ^ v.high; }
};
