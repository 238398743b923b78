// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include "base/error.h"

namespace quantloupe::python {
namespace {

constexpr DataType kTypes[] = {DataType::Float32, DataType::UInt8,   DataType::Int8,   DataType::UInt16,
                               DataType::Int16,   DataType::Int32,   DataType::Int64,  DataType::Bool,
                               DataType::Float16, DataType::Float64, DataType::UInt32, DataType::UInt64};

}  // namespace

OrderedJson describeArray(const std::string& name, const ConstantPtr& array, Held& held) {
    held.arrays.push_back(array);
    return {{"name", name},
            {"type", dataTypeName(array->type())},
            {"shape", array->dims()},
            {"address", reinterpret_cast<std::uintptr_t>(array->bytes().data())}};
}

OrderedJson describeArrays(const std::map<std::string, ConstantPtr>& arrays, Held& held) {
    OrderedJson list = OrderedJson::array();
    for (const auto& [name, array] : arrays) list.push_back(describeArray(name, array, held));
    return list;
}

ConstantPtr arrayFrom(const OrderedJson& description) {
    const auto name = description.at("type").get<std::string>();
    for (const DataType type : kTypes) {
        if (dataTypeName(type) != name) continue;
        const auto dims = description.at("shape").get<Dims>();
        const auto size = static_cast<std::size_t>(elementCount(dims)) * elementSize(type);
        const auto address = description.at("address").get<std::uintptr_t>();
        // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes the address of the array
        const auto* bytes = reinterpret_cast<const std::byte*>(address);
        return Constant::view(type, dims, nullptr, {bytes, size});
    }
    failInput("arrays of {} are not supported", name);
}

std::map<std::string, ConstantPtr> arraysFrom(const OrderedJson& descriptions) {
    std::map<std::string, ConstantPtr> arrays;
    for (const OrderedJson& description : descriptions)
        arrays[description.at("name").get<std::string>()] = arrayFrom(description);
    return arrays;
}

}  // namespace quantloupe::python
