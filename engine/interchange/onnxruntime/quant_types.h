// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of the types of codes in scripts with quantize_static (QuantType). Internal to the export.

#include <fmt/format.h>

#include <string>

#include "quantize/quantizer.h"

namespace quantloupe {

inline std::string activationType(const ActivationScheme& scheme) {
    return fmt::format("QuantType.Q{}Int{}", scheme.isSigned ? "" : "U", scheme.bits == 16 ? 16 : 8);
}

/// Returns the bits of the smallest type for codes of `bits`.
constexpr int bitsOfType(int bits) { return bits <= 4 ? 4 : bits <= 8 ? 8 : 16; }

/// Returns the smallest type that can store the codes.
inline std::string constantType(const ConstantQuantizer& quantizer) {
    return fmt::format("QuantType.Q{}Int{}", quantizer.quantMin < 0 ? "" : "U", bitsOfType(quantizer.bits));
}

}  // namespace quantloupe
