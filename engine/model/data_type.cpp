// SPDX-License-Identifier: Apache-2.0
#include "model/data_type.h"

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
    switch (type) {
        case DataType::Undefined:
            return "undefined";
        case DataType::Float32:
            return "float32";
        case DataType::UInt8:
            return "uint8";
        case DataType::Int8:
            return "int8";
        case DataType::UInt16:
            return "uint16";
        case DataType::Int16:
            return "int16";
        case DataType::Int32:
            return "int32";
        case DataType::Int64:
            return "int64";
        case DataType::String:
            return "string";
        case DataType::Bool:
            return "bool";
        case DataType::Float16:
            return "float16";
        case DataType::Float64:
            return "float64";
        case DataType::UInt32:
            return "uint32";
        case DataType::UInt64:
            return "uint64";
        case DataType::BFloat16:
            return "bfloat16";
        case DataType::UInt4:
            return "uint4";
        case DataType::Int4:
            return "int4";
    }
    return "unknown type";
}

}  // namespace quantloupe
