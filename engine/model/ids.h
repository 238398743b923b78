// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strong indices into a Graph. An id is valid only for the graph that returned it.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace quantloupe {

template <typename Tag>
struct Id {
    static constexpr std::uint32_t kNone = 0xffffffffu;
    std::uint32_t value = kNone;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
    constexpr bool valid() const { return value != kNone; }
    constexpr std::size_t index() const { return value; }
    auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;
using TensorId = Id<struct TensorTag>;

}  // namespace quantloupe

template <typename Tag>
struct std::hash<quantloupe::Id<Tag>> {
    std::size_t operator()(quantloupe::Id<Tag> id) const noexcept { return id.value; }
};
