// SPDX-License-Identifier: Apache-2.0
#include "model/onnx_proto.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/input_file.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

Dims dimsOf(const onnx::TensorProto& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }

template <typename T, typename Field>
ConstantPtr fromField(DataType type, Dims dims, const Field& field) {
    const auto count = static_cast<std::size_t>(elementCount(dims));
    if (static_cast<std::size_t>(field.size()) != count)
        failInput("the shape {} needs {} values but has {}", toString(dims), count, field.size());
    std::vector<std::byte> bytes(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
        const T value = static_cast<T>(field[static_cast<int>(i)]);
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return Constant::fromBytes(type, std::move(dims), std::move(bytes));
}

/// Only files inside the folder: no absolute paths, no "..", no links that lead out of it.
fs::path containedPath(const fs::path& folder, const std::string& location) {
    const fs::path relative(location);
    if (location.empty() || relative.is_absolute())
        failInput("invalid external data location '{}'; only files in the model's folder are read", location);
    std::error_code error;
    const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    fs::path file = error ? fs::path() : fs::weakly_canonical(root / relative, error);
    const fs::path inside = error ? fs::path() : file.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..")
        failInput("its external data is at '{}', outside the model's folder; copy the file next to the model",
                  location);
    if (!fs::exists(file, error))
        failInput("its data file '{}' is missing; it must be next to the model", location);
    return file;
}

std::vector<std::byte> externalBytes(const onnx::TensorProto& tensor, std::size_t needed,
                                     const fs::path& folder) {
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
    for (const auto& entry : tensor.external_data()) {
        try {
            if (entry.key() == "location") location = entry.value();
            if (entry.key() == "offset") offset = std::stoull(entry.value());
            if (entry.key() == "length") length = std::stoull(entry.value());
        } catch (const std::exception&) {
            failInput("invalid external data {} '{}'", entry.key(), entry.value());
        }
    }
    const InputFile file(containedPath(folder, location));
    const std::uint64_t size = file.size();
    if (length.value_or(needed) != needed || offset > size || needed > size - offset)
        failInput("its {} bytes at {} are not within the {} bytes of '{}'; is the file complete?", needed,
                  offset, size, location);
    std::vector<std::byte> bytes(needed);
    file.read(bytes.data(), needed, offset);
    return bytes;
}

/// 4-bit integers: two per byte in the file, the first in the low half; one per byte in memory.
ConstantPtr fromHalfBytes(const onnx::TensorProto& tensor, bool isSigned, Dims dims, const fs::path& folder) {
    const auto count = static_cast<std::size_t>(elementCount(dims));
    const std::size_t pairs = (count + 1) / 2;
    std::vector<std::byte> external;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
        external = externalBytes(tensor, pairs, folder);
    else if (pairs > (tensor.has_raw_data() ? tensor.raw_data().size()
                                            : static_cast<std::size_t>(tensor.int32_data_size())))
        failInput("it contains fewer than its {} values", count);
    const auto pairAt = [&](std::size_t at) {
        return !external.empty()       ? static_cast<unsigned>(external[at])
               : tensor.has_raw_data() ? static_cast<unsigned char>(tensor.raw_data()[at])
                                       : static_cast<unsigned>(tensor.int32_data(static_cast<int>(at)));
    };
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned pair = pairAt(i / 2);
        const int code = static_cast<int>((i % 2 == 0 ? pair : pair >> 4) & 15u);
        bytes[i] = static_cast<std::byte>(isSigned && code > 7 ? code - 16 : code);
    }
    return Constant::fromBytes(isSigned ? DataType::Int4 : DataType::UInt4, std::move(dims),
                               std::move(bytes));
}

}  // namespace

std::optional<std::vector<std::int64_t>> integersOf(const onnx::TensorProto& tensor) {
    constexpr std::int64_t kMost = 64;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
    std::int64_t count = 1;
    for (const std::int64_t dim : tensor.dims()) {
        if (dim < 0 || dim > kMost || (dim != 1 && tensor.dims_size() > 1)) return std::nullopt;
        count *= dim;
    }
    const std::string& raw = tensor.raw_data();
    const auto read = [&]<typename T>(T, const auto& typed) -> std::optional<std::vector<std::int64_t>> {
        std::vector<T> values(typed.begin(), typed.end());
        if (values.empty() && raw.size() == static_cast<std::size_t>(count) * sizeof(T)) {
            values.resize(static_cast<std::size_t>(count));
            std::copy_n(raw.data(), raw.size(), reinterpret_cast<char*>(values.data()));
        }
        if (values.size() != static_cast<std::size_t>(count)) return std::nullopt;
        return std::vector<std::int64_t>(values.begin(), values.end());
    };
    switch (tensor.data_type()) {
        case onnx::TensorProto::INT64:
            return read(std::int64_t{}, tensor.int64_data());
        case onnx::TensorProto::INT32:
            return read(std::int32_t{}, tensor.int32_data());
        case onnx::TensorProto::BOOL: {
            auto values = read(std::uint8_t{}, tensor.int32_data());
            if (values)
                for (auto& value : *values) value = value != 0;
            return values;
        }
        default:
            return std::nullopt;
    }
}

std::optional<std::int64_t> scalarOf(const onnx::TensorProto& tensor) {
    const auto values = integersOf(tensor);
    return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

ConstantPtr constantFromProto(const onnx::TensorProto& tensor, const std::shared_ptr<const void>& owner,
                              const fs::path& folder) {
    const auto type = static_cast<DataType>(tensor.data_type());
    Dims dims = dimsOf(tensor);
    elementCount(dims);
    if (tensor.has_segment()) fail(ErrorKind::Unsupported, "segmented tensors are not supported");
    if (type == DataType::UInt4 || type == DataType::Int4)
        return fromHalfBytes(tensor, type == DataType::Int4, std::move(dims), folder);
    if (type == DataType::String) return Constant::fromBytes(type, std::move(dims), {});
    if (elementSize(type) == 0)
        fail(ErrorKind::Unsupported, "the element type {} is not supported", dataTypeName(type));
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
        std::vector<std::byte> bytes =
            externalBytes(tensor, static_cast<std::size_t>(elementCount(dims)) * elementSize(type), folder);
        return Constant::fromBytes(type, std::move(dims), std::move(bytes));
    }
    if (tensor.has_raw_data()) {
        const std::string& raw = tensor.raw_data();
        return Constant::view(type, std::move(dims), owner, std::as_bytes(std::span(raw.data(), raw.size())));
    }
    switch (type) {
        case DataType::Float32:
            return fromField<float>(type, std::move(dims), tensor.float_data());
        case DataType::Float64:
            return fromField<double>(type, std::move(dims), tensor.double_data());
        case DataType::Int64:
            return fromField<std::int64_t>(type, std::move(dims), tensor.int64_data());
        case DataType::UInt32:
            return fromField<std::uint32_t>(type, std::move(dims), tensor.uint64_data());
        case DataType::UInt64:
            return fromField<std::uint64_t>(type, std::move(dims), tensor.uint64_data());
        case DataType::Int32:
            return fromField<std::int32_t>(type, std::move(dims), tensor.int32_data());
        case DataType::Int16:
            return fromField<std::int16_t>(type, std::move(dims), tensor.int32_data());
        case DataType::UInt16:
        case DataType::Float16:
        case DataType::BFloat16:
            return fromField<std::uint16_t>(type, std::move(dims), tensor.int32_data());
        case DataType::Int8:
            return fromField<std::int8_t>(type, std::move(dims), tensor.int32_data());
        default:
            return fromField<std::uint8_t>(type, std::move(dims), tensor.int32_data());
    }
}

AttributeValue attributeFromProto(const onnx::NodeProto& node, int index,
                                  const std::shared_ptr<const void>& owner, const fs::path& folder) {
    const onnx::AttributeProto& attribute = node.attribute(index);
    // Files of IR version 1 omit the type; which field is set determines it.
    auto type = attribute.type();
    if (type == onnx::AttributeProto::UNDEFINED) {
        if (attribute.has_i())
            type = onnx::AttributeProto::INT;
        else if (attribute.has_f())
            type = onnx::AttributeProto::FLOAT;
        else if (attribute.has_s())
            type = onnx::AttributeProto::STRING;
        else if (attribute.has_t())
            type = onnx::AttributeProto::TENSOR;
        else if (attribute.ints_size() > 0)
            type = onnx::AttributeProto::INTS;
        else if (attribute.floats_size() > 0)
            type = onnx::AttributeProto::FLOATS;
    }
    switch (type) {
        case onnx::AttributeProto::INT:
            return std::int64_t{attribute.i()};
        case onnx::AttributeProto::FLOAT:
            return attribute.f();
        case onnx::AttributeProto::STRING:
            return attribute.s();
        case onnx::AttributeProto::INTS:
            return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        case onnx::AttributeProto::FLOATS:
            return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
        case onnx::AttributeProto::STRINGS:
            return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
        case onnx::AttributeProto::TENSOR:
            return constantFromProto(attribute.t(), owner, folder);
        default:
            break;
    }
    return OpaqueAttribute{attribute.SerializeAsString(), onnx::AttributeProto::AttributeType_Name(type)};
}

namespace {

void addExternalFile(const onnx::TensorProto& tensor, const fs::path& folder, std::set<fs::path>& files) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    for (const auto& entry : tensor.external_data())
        if (entry.key() == "location") files.insert((folder / entry.value()).lexically_normal());
}

void addExternalFiles(const onnx::GraphProto& graph, const fs::path& folder, std::set<fs::path>& files) {
    for (const auto& tensor : graph.initializer()) addExternalFile(tensor, folder, files);
    for (const auto& node : graph.node())
        for (const auto& attribute : node.attribute()) {
            addExternalFile(attribute.t(), folder, files);
            for (const auto& tensor : attribute.tensors()) addExternalFile(tensor, folder, files);
            if (attribute.has_g()) addExternalFiles(attribute.g(), folder, files);
            for (const auto& inner : attribute.graphs()) addExternalFiles(inner, folder, files);
        }
}

}  // namespace

std::set<fs::path> externalFiles(const onnx::GraphProto& graph, const fs::path& folder) {
    std::set<fs::path> files;
    addExternalFiles(graph, folder, files);
    return files;
}

const onnx::AttributeProto* attributeOf(const onnx::NodeProto& node, const std::string& name) {
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return &attribute;
    return nullptr;
}

bool isStandardDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

void collectNames(const onnx::GraphProto& graph, std::set<std::string>& names) {
    for (const auto& input : graph.input()) names.insert(input.name());
    for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
    for (const auto& node : graph.node()) {
        names.insert(node.output().begin(), node.output().end());
        for (const auto& attribute : node.attribute())
            if (attribute.has_g()) collectNames(attribute.g(), names);
    }
}

}  // namespace quantloupe
