// SPDX-License-Identifier: Apache-2.0
#include "model/set_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "base/error.h"
#include "base/half.h"
#include "base/short_text.h"
#include "base/text.h"
#include "model/constant.h"
#include "model/onnx_proto.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();

void setSize(onnx::TensorShapeProto::Dimension& dim, const std::string& size) {
    dim.Clear();
    const auto number = parsed<std::int64_t>(size);
    const bool isName = !size.empty() &&
                        std::string_view("0123456789+-.").find(size.front()) == std::string_view::npos &&
                        size.find(',') == std::string::npos;
    if (number ? *number < 1 || *number > kLargestSize : !isName)
        failInput("a size is a number from 1 to {}, a name, or '?', not '{}'", kLargestSize, size);
    if (number) {
        dim.set_dim_value(*number);
    } else if (size != "?") {
        dim.set_dim_param(size);
    }
}

/// The inputs that are not constants.
std::vector<onnx::ValueInfoProto*> inputsOf(onnx::GraphProto& graph) {
    std::set<std::string> constants;
    for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
    std::vector<onnx::ValueInfoProto*> inputs;
    for (auto& input : *graph.mutable_input())
        if (!constants.contains(input.name())) inputs.push_back(&input);
    return inputs;
}

onnx::ValueInfoProto& inputNamed(onnx::GraphProto& graph, const std::string& name) {
    std::vector<std::string> names;
    for (onnx::ValueInfoProto* input : inputsOf(graph)) {
        if (input->name() == name) {
            if (!input->type().has_tensor_type()) failInput("the input '{}' is not a tensor", name);
            return *input;
        }
        names.push_back(input->name());
    }
    failInput("the model has no input '{}'; its inputs are {}", name, shortList(names, 10));
}

void setShape(onnx::ValueInfoProto& input, const std::vector<std::string>& sizes) {
    auto& type = *input.mutable_type()->mutable_tensor_type();
    if (type.has_shape() && type.shape().dim_size() != static_cast<int>(sizes.size()))
        failInput("the input '{}' has {}, not {}", input.name(),
                  counted(static_cast<std::size_t>(type.shape().dim_size()), "dimension"), sizes.size());
    type.mutable_shape()->clear_dim();
    for (const std::string& size : sizes) setSize(*type.mutable_shape()->add_dim(), size);
}

/// Replaces a size in the inputs and outputs of the graph. Returns whether it is there.
bool replaceSize(onnx::GraphProto& graph, const std::string& name, const std::string& size) {
    bool found = false;
    for (auto* values : {graph.mutable_input(), graph.mutable_output()})
        for (auto& value : *values) {
            if (!value.type().tensor_type().has_shape()) continue;
            for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
                if (dim.dim_param() == name) {
                    setSize(dim, size);
                    found = true;
                }
        }
    return found;
}

std::vector<std::string> sizeNames(const onnx::GraphProto& graph) {
    std::set<std::string> names;
    for (const auto& input : graph.input())
        for (const auto& dim : input.type().tensor_type().shape().dim())
            if (!dim.dim_param().empty()) names.insert(dim.dim_param());
    return {names.begin(), names.end()};
}

std::optional<double> numberOf(const std::string& text) {
    if (text == "true") return 1;
    if (text == "false") return 0;
    return parsed<double>(text);
}

template <typename T>
std::optional<ConstantPtr> filled(DataType type, const Dims& dims, double number) {
    constexpr bool kInteger = std::is_integral_v<T>;
    const auto least = static_cast<double>(std::numeric_limits<T>::lowest()),
               most = static_cast<double>(std::numeric_limits<T>::max());
    if (!std::isfinite(number) || number < least || number > most) return std::nullopt;
    if (kInteger && number != std::floor(number)) return std::nullopt;
    if (kInteger && sizeof(T) == 8 && number == most)
        return std::nullopt;  // rounded up from the largest int64
    const std::vector<T> values(static_cast<std::size_t>(elementCount(dims)), static_cast<T>(number));
    const auto bytes = std::as_bytes(std::span(values));
    return Constant::fromBytes(type, dims, {bytes.begin(), bytes.end()});
}

std::optional<ConstantPtr> constantOf(DataType type, const Dims& dims, double number) {
    switch (type) {
        case DataType::Float32:
            return filled<float>(type, dims, number);
        case DataType::Float64:
            return filled<double>(type, dims, number);
        case DataType::Float16:
            return filled<std::uint16_t>(type, dims, floatToHalf(static_cast<float>(number)));
        case DataType::Int64:
            return filled<std::int64_t>(type, dims, number);
        case DataType::Int32:
            return filled<std::int32_t>(type, dims, number);
        case DataType::UInt8:
            return filled<std::uint8_t>(type, dims, number);
        case DataType::Int8:
            return filled<std::int8_t>(type, dims, number);
        case DataType::Bool:
            return number == 0 || number == 1 ? filled<std::uint8_t>(type, dims, number) : std::nullopt;
        default:
            failInput("an input of type {} cannot get a value", dataTypeName(type));
    }
}

void fixValue(onnx::GraphProto& graph, const std::string& name, const std::string& value) {
    const onnx::ValueInfoProto& input = inputNamed(graph, name);
    const auto& type = input.type().tensor_type();
    Dims dims;
    for (const auto& dim : type.shape().dim()) {
        if (dim.dim_value() < 1)
            failInput(
                "the input '{}' needs a shape of numbers before it gets a value; dynamic sizes can be 1",
                name);
        dims.push_back(dim.dim_value());
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 28;
    if (!type.has_shape() || elementCount(dims) > kMost)
        failInput("the input '{}' {}", name,
                  type.has_shape() ? "is too large to get a value" : "needs a shape before it gets a value");
    const auto number = numberOf(value);
    const auto constant =
        number ? constantOf(static_cast<DataType>(type.elem_type()), dims, *number) : std::nullopt;
    if (!constant)
        failInput("the input '{}' is of type {} and cannot be '{}'", name,
                  dataTypeName(static_cast<DataType>(type.elem_type())), value);
    onnx::TensorProto& tensor = *graph.add_initializer();
    constantToProto(**constant, tensor);
    tensor.set_name(name);
    const auto position = std::find_if(graph.input().begin(), graph.input().end(),
                                       [&](const auto& other) { return other.name() == name; });
    graph.mutable_input()->erase(position);
}

}  // namespace

void setInputs(onnx::ModelProto& model, const InputChanges& changes) {
    if (changes.empty()) return;
    onnx::GraphProto& graph = *model.mutable_graph();
    const std::vector<std::string> known = sizeNames(graph);
    for (const auto& [name, size] : changes.sizes)
        if (!replaceSize(graph, name, size))
            failInput("no input has a size called '{}'{}", name,
                      known.empty() ? "" : fmt::format("; their sizes are called {}", shortList(known, 10)));
    for (const auto& [name, sizes] : changes.shapes) setShape(inputNamed(graph, name), sizes);
    for (const auto& [name, value] : changes.values) fixValue(graph, name, value);
    if (changes.shapes.empty() && changes.sizes.empty()) return;
    graph.clear_value_info();
    if (changes.shapes.empty()) return;
    for (auto& output : *graph.mutable_output())
        if (output.type().tensor_type().has_shape())
            for (auto& dim : *output.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
                dim.Clear();
}

}  // namespace quantloupe
