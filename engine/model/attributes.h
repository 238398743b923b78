// SPDX-License-Identifier: Apache-2.0
#pragma once
// A node's attributes by name.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/constant.h"

namespace quantloupe {

class Graph;

/// An attribute that is saved unchanged (subgraphs, sparse tensors), as its serialized AttributeProto.
struct OpaqueAttribute {
    std::string serialized;
    std::string kind;  ///< "GRAPH", "SPARSE_TENSOR", ...
    /// The parsed subgraph. Its inputs are its own inputs, followed by the outer tensors that it reads
    /// (`captures`).
    std::shared_ptr<const Graph> graph = {};
    std::vector<std::string> captures = {};
    bool operator==(const OpaqueAttribute&) const = default;
};

using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, ConstantPtr, OpaqueAttribute>;

/// Human-readable text, truncated after 8 elements: "[3, 3]".
std::string toString(const AttributeValue& value);

class Attributes {
  public:
    using Map = std::map<std::string, AttributeValue, std::less<>>;

    void set(std::string name, AttributeValue value) { m_values[std::move(name)] = std::move(value); }
    void erase(std::string_view name);
    bool has(std::string_view name) const { return m_values.find(name) != m_values.end(); }
    bool empty() const { return m_values.empty(); }

    /// Returns the value, or the fallback if the attribute is missing. Throws Error if it has another type.
    std::int64_t integer(std::string_view name, std::int64_t fallback) const;
    float real(std::string_view name, float fallback) const;
    std::string text(std::string_view name, std::string_view fallback) const;
    std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> fallback = {}) const;
    std::vector<float> reals(std::string_view name) const;  ///< empty if missing
    ConstantPtr constant(std::string_view name) const;      ///< null if missing

    /// Adds names and values, ordered by name.
    void addTo(VersionBuilder& builder) const;

    Map::const_iterator begin() const { return m_values.begin(); }
    Map::const_iterator end() const { return m_values.end(); }

  private:
    Map m_values;
};

}  // namespace quantloupe
