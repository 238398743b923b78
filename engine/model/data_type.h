// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element types of tensors. The values are those of onnx::TensorProto_DataType.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quantloupe {

enum class DataType : std::int32_t {
    Undefined = 0,
    Float32 = 1,
    UInt8 = 2,
    Int8 = 3,
    UInt16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Float64 = 11,
    UInt32 = 12,
    UInt64 = 13,
    BFloat16 = 16,
    UInt4 = 21,  ///< one per byte in memory, two per byte in files
    Int4 = 22,   ///< likewise
};

/// Bytes per element; 0 for strings and types without a fixed size.
std::size_t elementSize(DataType type);
/// The name: "float32", "int64". Also of the types of ONNX that are not supported, such as "float8e4m3fn".
std::string_view dataTypeName(DataType type);

}  // namespace quantloupe
