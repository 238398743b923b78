// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integer types of quantized tensors.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "model/data_type.h"

namespace quantloupe {

/// Calls use(T{}) for integers of 4, 8, 16 and 32 bits (4-bit integers are stored in 8 bits); throws Error
/// naming `what` for others.
template <typename F>
auto withIntegerType(DataType type, std::string_view what, F use) {
    switch (type) {
        case DataType::UInt4:
        case DataType::UInt8:
            return use(std::uint8_t{});
        case DataType::Int4:
        case DataType::Int8:
            return use(std::int8_t{});
        case DataType::UInt16:
            return use(std::uint16_t{});
        case DataType::Int16:
            return use(std::int16_t{});
        case DataType::Int32:
            return use(std::int32_t{});
        default:
            fail(ErrorKind::Unsupported, "{} on {} is not supported", what, dataTypeName(type));
    }
}

/// clamp(round_half_even(steps) + zero_point); NaN becomes the lowest code, as in ONNX Runtime on x86.
template <typename T>
T saturated(float steps, std::int32_t zeroPoint) {
    if (std::isnan(steps)) return std::numeric_limits<T>::min();
    const double shifted = std::nearbyint(static_cast<double>(steps)) + zeroPoint;
    return static_cast<T>(std::clamp(shifted, static_cast<double>(std::numeric_limits<T>::min()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
}

}  // namespace quantloupe
