// SPDX-License-Identifier: Apache-2.0
#include "config/precision.h"

#include <charconv>

#include "base/error.h"
#include "config/near_names.h"

namespace quantloupe {
namespace {

/// Reads a number of bits without leading zeros from the front of the text.
std::optional<int> takeBits(std::string_view& text) {
    int bits = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), bits);
    if (result.ec != std::errc() || text.front() == '0' || bits < kLeastBits || bits > kMostBits) return {};
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    return bits;
}

}  // namespace

std::string precisionName(const Precision& precision) {
    switch (precision.kind) {
        case Precision::Kind::Float32:
            return "float32";
        case Precision::Kind::Float16:
            return "float16";
        case Precision::Kind::Integer:
            return fmt::format("w{}a{}", precision.weightBits, precision.activationBits);
    }
    return {};
}

std::optional<Precision> parsePrecision(std::string_view name) {
    if (name == "float32") return Precision::float32();
    if (name == "float16") return Precision::float16();
    if (!name.starts_with('w')) return {};
    name.remove_prefix(1);
    const auto weight = takeBits(name);
    if (!weight || !name.starts_with('a')) return {};
    name.remove_prefix(1);
    const auto activation = takeBits(name);
    if (!activation || !name.empty()) return {};
    return Precision::integer(*weight, *activation);
}

Precision precisionNamed(std::string_view name) {
    if (const auto precision = parsePrecision(name)) return *precision;
    const std::vector<std::string> common = {"float32", "float16", "w8a8",   "w4a8",
                                             "w8a16",   "w4a16",   "w16a16", "w16a8"};
    failInput(
        "unknown precision '{}'{}; it must be float32, float16, or the bits of weights and activations (2 to "
        "16), as in w8a16",
        name, didYouMean(nearNames(common, name, 2)));
}

}  // namespace quantloupe
