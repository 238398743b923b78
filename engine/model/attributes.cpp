// SPDX-License-Identifier: Apache-2.0
#include "model/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"

namespace quantloupe {
namespace {

void addAttribute(VersionBuilder& builder, const AttributeValue& value) {
    builder.add(value.index());
    std::visit(
        [&](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_arithmetic_v<T>) {
                builder.add(v);
            } else if constexpr (std::is_same_v<T, std::string>) {
                builder.add(std::string_view(v));
            } else if constexpr (std::is_same_v<T, ConstantPtr>) {
                builder.add(v->version());
            } else if constexpr (std::is_same_v<T, OpaqueAttribute>) {
                builder.add(std::string_view(v.serialized));
            } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
                builder.add(v.size());
                for (const std::string& text : v) builder.add(std::string_view(text));
            } else {
                builder.add(v.size());
                builder.addBytes(v.data(), v.size() * sizeof(v[0]));
            }
        },
        value);
}

template <typename T>
std::string listText(const std::vector<T>& values) {
    constexpr std::size_t kShown = 8;
    const std::span<const T> shown(values.data(), std::min(values.size(), kShown));
    return fmt::format("[{}{}]", fmt::join(shown, ", "), values.size() > kShown ? ", ..." : "");
}

template <typename T>
const T* find(const Attributes::Map& values, std::string_view name, const char* expected) {
    const auto found = values.find(name);
    if (found == values.end()) return nullptr;
    if (const T* value = std::get_if<T>(&found->second)) return value;
    failInput("attribute '{}' should be {}", name, expected);
}

}  // namespace

std::string toString(const AttributeValue& value) {
    struct Visitor {
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(float v) const { return fmt::format("{}", v); }
        std::string operator()(const std::string& v) const { return v; }
        std::string operator()(const std::vector<std::int64_t>& v) const { return listText(v); }
        std::string operator()(const std::vector<float>& v) const { return listText(v); }
        std::string operator()(const std::vector<std::string>& v) const { return listText(v); }
        std::string operator()(const ConstantPtr& v) const {
            return fmt::format("{} tensor {}", dataTypeName(v->type()), toString(v->dims()));
        }
        std::string operator()(const OpaqueAttribute& v) const { return v.kind; }
        std::string toString(const Dims& dims) const { return quantloupe::toString(dims); }
    };
    return std::visit(Visitor{}, value);
}

void Attributes::erase(std::string_view name) {
    if (const auto found = m_values.find(name); found != m_values.end()) m_values.erase(found);
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
    const auto* value = find<std::int64_t>(m_values, name, "an integer");
    return value != nullptr ? *value : fallback;
}

float Attributes::real(std::string_view name, float fallback) const {
    const auto* value = find<float>(m_values, name, "a float");
    return value != nullptr ? *value : fallback;
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
    const auto* value = find<std::string>(m_values, name, "a string");
    return value != nullptr ? *value : std::string(fallback);
}

std::vector<std::int64_t> Attributes::integers(std::string_view name,
                                               std::vector<std::int64_t> fallback) const {
    const auto* value = find<std::vector<std::int64_t>>(m_values, name, "a list of integers");
    if (value != nullptr) return *value;
    return fallback;
}

std::vector<float> Attributes::reals(std::string_view name) const {
    const auto* value = find<std::vector<float>>(m_values, name, "a list of numbers");
    return value != nullptr ? *value : std::vector<float>();
}

ConstantPtr Attributes::constant(std::string_view name) const {
    const auto* value = find<ConstantPtr>(m_values, name, "a tensor");
    return value != nullptr ? *value : nullptr;
}

void Attributes::addTo(VersionBuilder& builder) const {
    for (const auto& [name, value] : m_values) {
        builder.add(std::string_view(name));
        addAttribute(builder, value);
    }
}

}  // namespace quantloupe
