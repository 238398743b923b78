// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dispatches from a DataType known at run time to a C++ type, and converts values between these types.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "model/data_type.h"

namespace quantloupe {

/// Calls use(T{}) for float32, float64 and the integers; throws Error naming `what` for other types.
template <typename F>
auto withArithmeticType(DataType type, std::string_view what, F use) {
    switch (type) {
        case DataType::Float32:
            return use(float{});
        case DataType::Float64:
            return use(double{});
        case DataType::Int8:
            return use(std::int8_t{});
        case DataType::Int16:
            return use(std::int16_t{});
        case DataType::Int32:
            return use(std::int32_t{});
        case DataType::Int64:
            return use(std::int64_t{});
        case DataType::UInt8:
            return use(std::uint8_t{});
        case DataType::UInt16:
            return use(std::uint16_t{});
        case DataType::UInt32:
            return use(std::uint32_t{});
        case DataType::UInt64:
            return use(std::uint64_t{});
        default:
            fail(ErrorKind::Unsupported, "{} on {} is not supported", what, dataTypeName(type));
    }
}

/// Calls use(T{}) for the types of withArithmeticType() and bool.
template <typename F>
auto withNumericType(DataType type, std::string_view what, F use) {
    return type == DataType::Bool ? use(bool{}) : withArithmeticType(type, what, use);
}

/// Converts as ONNX's Cast specifies, and with a defined result if the value does not fit.
template <typename To, typename From>
To convert(From value) {
    if constexpr (std::is_same_v<To, bool>) {
        return value != From{0};
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        if (!(value == value)) return 0;
        if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
        if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        return static_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

}  // namespace quantloupe
