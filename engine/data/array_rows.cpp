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
    const std::optional<std::size_t> axis = input.sampleAxis;
    if (axis && dims.empty())
        failInput("'{}' is a single number: its first dimension must be the number of samples", name);
    if (!axis || !input.shape.empty()) {
        bool fits = dims.size() == input.shape.size();
        for (std::size_t d = 0; fits && d < dims.size(); ++d)
            fits = d == axis || !input.shape[d].known() || input.shape[d].value == dims[d];
        if (!fits && !axis) failInput("{}: all samples share this value", describe());
        if (!fits && axis == 0)
            failInput("{}: all dimensions after the first one, the number of samples, must match",
                      describe());
        if (!fits)
            failInput("{}: all dimensions except dimension {}, the number of samples, must match", describe(),
                      *axis + 1);
    }
    if (!convertible(array.type(), input.type))
        failInput("{}: save it as {}", describe(), dataTypeName(input.type));
    // A cache without entries is empty, too: samples × heads × 0 × values.
    if (array.size() == 0 && (!axis || dims[*axis] == 0))
        failInput("'{}' is empty ({})", name, toString(dims));
}

namespace {

/// One row for an input that takes one row is that of each sample: a position "1" next to "batch×8".
bool isSharedRow(const InputSpec& input, std::int64_t rows) {
    return rows == 1 && !input.shape.empty() && input.shape[*input.sampleAxis].value == 1;
}

}  // namespace

std::size_t samplesIn(const std::vector<ConstantPtr>& arrays, const std::vector<InputSpec>& inputs,
                      const std::string& where) {
    std::optional<std::size_t> first;
    const auto samples = [&](std::size_t i) { return arrays[i]->dims()[*inputs[i].sampleAxis]; };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].sampleAxis || isSharedRow(inputs[i], samples(i))) continue;
        if (!first) first = i;
        if (samples(i) != samples(*first))
            failInput("{} have different numbers of samples: '{}' has {}, '{}' has {}", where,
                      inputs[*first].name, samples(*first), inputs[i].name, samples(i));
    }
    return first ? static_cast<std::size_t>(samples(*first)) : 1;
}

SampleTensor sampleOf(const ConstantPtr& array, std::size_t index, const InputSpec& input) {
    SampleTensor tensor;
    tensor.type = input.type;
    tensor.dims = array->dims();
    // The blocks of a sample: one if its axis is the first one.
    std::size_t count = 1, samples = 1, place = 0;
    if (input.sampleAxis) {
        const auto axis = tensor.dims.begin() + static_cast<std::ptrdiff_t>(*input.sampleAxis);
        samples = static_cast<std::size_t>(*axis);
        place = samples == 1 ? 0 : index;  // shared
        count = static_cast<std::size_t>(elementCount(Dims(tensor.dims.begin(), axis)));
        tensor.dims.erase(axis);
    }
    const std::span<const std::byte> all = array->bytes();
    const std::size_t size = count * samples == 0 ? 0 : all.size() / (count * samples);
    std::vector<std::byte> bytes;
    bytes.reserve(count * size);
    for (std::size_t block = 0; block < count; ++block) {
        const auto part = all.subspan((block * samples + place) * size, size);
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    if (array->type() != input.type)
        bytes = convert(*Constant::fromBytes(array->type(), tensor.dims, std::move(bytes)), input.type);
    tensor.bytes = std::move(bytes);
    return tensor;
}

}  // namespace quantloupe
