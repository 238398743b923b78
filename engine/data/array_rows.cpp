// SPDX-License-Identifier: Apache-2.0
#include "data/array_rows.h"

#include <cstring>
#include <limits>

#include "base/error.h"

namespace quantloupe {

namespace {

bool isInteger(DataType type) {
    switch (type) {
        case DataType::UInt8:
        case DataType::Int8:
        case DataType::UInt16:
        case DataType::Int16:
        case DataType::Int32:
        case DataType::Int64:
        case DataType::UInt32:
            return true;
        default:
            return false;  // uint64 does not fit the common type of the conversion
    }
}

bool convertible(DataType from, DataType to) {
    if (from == to) return elementSize(from) != 0;
    if (to == DataType::Float32 || to == DataType::Float64)
        return isInteger(from) || from == DataType::UInt64 || from == DataType::Bool ||
               from == DataType::Float16 || from == DataType::Float32 || from == DataType::Float64;
    return isInteger(to) && (isInteger(from) || from == DataType::Bool);
}

template <typename To, typename From>
std::vector<std::byte> converted(const std::vector<From>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(To));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if constexpr (std::is_integral_v<To>) {
            if (values[i] < std::numeric_limits<To>::min() || values[i] > std::numeric_limits<To>::max())
                failInput("the value {} does not fit the input's type (from {} to {})", values[i],
                          std::numeric_limits<To>::min(), std::numeric_limits<To>::max());
        }
        const To value = static_cast<To>(values[i]);
        std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof value);
    }
    return bytes;
}

std::vector<std::byte> convert(const Constant& row, DataType to) {
    switch (to) {
        case DataType::Float32:
            return converted<float>(row.toDoubles());
        case DataType::Float64:
            return converted<double>(row.toDoubles());
        case DataType::UInt8:
            return converted<std::uint8_t>(row.toInt64s());
        case DataType::Int8:
            return converted<std::int8_t>(row.toInt64s());
        case DataType::UInt16:
            return converted<std::uint16_t>(row.toInt64s());
        case DataType::Int16:
            return converted<std::int16_t>(row.toInt64s());
        case DataType::Int32:
            return converted<std::int32_t>(row.toInt64s());
        case DataType::UInt32:
            return converted<std::uint32_t>(row.toInt64s());
        case DataType::Int64:
            return converted<std::int64_t>(row.toInt64s());
        default:
            fail(ErrorKind::Internal, "there is no conversion to {}", dataTypeName(to));
    }
}

}  // namespace

void checkArrayFits(const Constant& array, const InputSpec& input, const std::string& name) {
    const Dims& dims = array.dims();
    const auto describe = [&] {
        return fmt::format("'{}' is {} of {} but input '{}' takes {} of {}", name, toString(dims),
                           dataTypeName(array.type()), input.name, toString(input.shape),
                           dataTypeName(input.type));
    };
    if (dims.empty())
        failInput("'{}' is a single number: its first dimension must be the number of samples", name);
    if (!input.shape.empty()) {
        bool fits = dims.size() == input.shape.size();
        for (std::size_t d = 1; fits && d < dims.size(); ++d)
            fits = !input.shape[d].known() || input.shape[d].value == dims[d];
        if (!fits)
            failInput("{}: all dimensions after the first one, the number of samples, must match",
                      describe());
    }
    if (!convertible(array.type(), input.type))
        failInput("{}: save it as {}", describe(), dataTypeName(input.type));
    if (array.size() == 0) failInput("'{}' is empty ({})", name, toString(dims));
}

SampleTensor rowOf(const ConstantPtr& array, std::size_t row, const InputSpec& input) {
    SampleTensor tensor;
    tensor.type = input.type;
    tensor.dims.assign(array->dims().begin() + 1, array->dims().end());
    const std::size_t size = array->bytes().size() / static_cast<std::size_t>(array->dims().front());
    const std::span<const std::byte> bytes = array->bytes().subspan(row * size, size);
    if (array->type() == input.type)
        tensor.bytes.assign(bytes.begin(), bytes.end());
    else
        tensor.bytes = convert(*Constant::view(array->type(), tensor.dims, array, bytes), input.type);
    return tensor;
}

}  // namespace quantloupe
