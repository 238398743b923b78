// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dispatches from a DataType known at run time to a C++ type.

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

}  // namespace quantloupe
