// SPDX-License-Identifier: Apache-2.0
#include "model/data_type.h"

#include <array>

namespace quantloupe {

std::size_t elementSize(DataType type) {
    switch (type) {
        case DataType::UInt4:
        case DataType::Int4:
        case DataType::UInt8:
        case DataType::Int8:
        case DataType::Bool:
            return 1;
        case DataType::UInt16:
        case DataType::Int16:
        case DataType::Float16:
        case DataType::BFloat16:
            return 2;
        case DataType::Float32:
        case DataType::Int32:
        case DataType::UInt32:
            return 4;
        case DataType::Int64:
        case DataType::UInt64:
        case DataType::Float64:
            return 8;
        case DataType::Undefined:
        case DataType::String:
            return 0;
    }
    return 0;
}

std::string_view dataTypeName(DataType type) {
    constexpr std::array<std::string_view, 29> names{
        "undefined",      "float32",    "uint8",          "int8",       "uint16",    "int16",
        "int32",          "int64",      "string",         "bool",       "float16",   "float64",
        "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
        "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
        "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
    const auto index = static_cast<std::size_t>(type);
    return index < names.size() ? names[index] : "unknown type";
}

}  // namespace quantloupe
