// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a DataType that is known at run time to a C++ type.

#include "base/error.h"
#include "model/data_type.h"

namespace quantloupe {

/// Calls use(T{}) for float32, float64, int32 or int64; throws Error naming `what` for others.
template <typename F>
auto withArithmeticType(DataType type, std::string_view what, F use) {
    switch (type) {
        case DataType::Float32:
            return use(float{});
        case DataType::Float64:
            return use(double{});
        case DataType::Int32:
            return use(std::int32_t{});
        case DataType::Int64:
            return use(std::int64_t{});
        default:
            fail(ErrorKind::Unsupported, "{} on {} is not supported", what, dataTypeName(type));
    }
}

/// Calls use(T{}) for those, the small and unsigned integers and bool.
template <typename F>
auto withNumericType(DataType type, std::string_view what, F use) {
    switch (type) {
        case DataType::UInt8:
            return use(std::uint8_t{});
        case DataType::Int8:
            return use(std::int8_t{});
        case DataType::UInt16:
            return use(std::uint16_t{});
        case DataType::Int16:
            return use(std::int16_t{});
        case DataType::UInt32:
            return use(std::uint32_t{});
        case DataType::UInt64:
            return use(std::uint64_t{});
        case DataType::Bool:
            return use(bool{});
        default:
            return withArithmeticType(type, what, use);
    }
}

}  // namespace quantloupe
