// SPDX-License-Identifier: Apache-2.0
#pragma once
// The precision of a layer: float32, float16, or the bits of its weights and activations ("w8a16").

#include <optional>
#include <string>
#include <string_view>

namespace quantloupe {

struct Precision {
    enum class Kind {
        Float32,  ///< the layer is not quantized
        Float16,  ///< inputs, weights and outputs are rounded to IEEE half, sums are in float32
        Integer,  ///< the layer is quantized
    };
    Kind kind = Kind::Float32;
    int weightBits = 0, activationBits = 0;  ///< Integer: 2 to 16 each; otherwise 0
    auto operator<=>(const Precision&) const = default;

    static constexpr Precision float32() { return {}; }
    static constexpr Precision float16() { return {Kind::Float16, 0, 0}; }
    static constexpr Precision integer(int weightBits, int activationBits) {
        return {Kind::Integer, weightBits, activationBits};
    }
    bool isInteger() const { return kind == Kind::Integer; }
};

/// Stands for float16 where a number of bits is expected.
inline constexpr int kFloat16Bits = 0;
inline constexpr int kLeastBits = 2, kMostBits = 16;

/// Returns "float32", "float16" or "w8a16".
std::string precisionName(const Precision& precision);
/// The inverse of precisionName(); empty for any other text.
std::optional<Precision> parsePrecision(std::string_view name);
/// Like parsePrecision(), but throws Error with similar precisions.
Precision precisionNamed(std::string_view name);

}  // namespace quantloupe
