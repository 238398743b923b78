// SPDX-License-Identifier: Apache-2.0
#include "model/constant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/half.h"

namespace quantloupe {

struct Constant::Lazy {
    std::once_flag versionOnce, magnitudeOnce;
    Version version;
    float largestMagnitude = 0;
};

namespace {

template <typename T>
ConstantPtr fromVector(DataType type, Dims&& dims, std::vector<T> values) {
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    return Constant::view(type, std::move(dims), owner, std::as_bytes(std::span(*owner)));
}

/// Calls f(element) for every element, in the element type.
template <typename F>
void forEachElement(DataType type, std::span<const std::byte> bytes, F&& f) {
    const auto visit = [&]<typename T>(T) {
        for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
            T value;  // the bytes may be unaligned
            std::memcpy(&value, bytes.data() + at, sizeof value);
            f(value);
        }
    };
    switch (type) {
        case DataType::Float32:
            return visit(float{});
        case DataType::Float64:
            return visit(double{});
        case DataType::Int4:
        case DataType::Int8:
            return visit(std::int8_t{});
        case DataType::UInt4:
        case DataType::UInt8:
        case DataType::Bool:
            return visit(std::uint8_t{});
        case DataType::Int16:
            return visit(std::int16_t{});
        case DataType::UInt16:
            return visit(std::uint16_t{});
        case DataType::Int32:
            return visit(std::int32_t{});
        case DataType::UInt32:
            return visit(std::uint32_t{});
        case DataType::Int64:
            return visit(std::int64_t{});
        case DataType::UInt64:
            return visit(std::uint64_t{});
        default:
            failInput("a constant of type {} cannot be read as numbers", dataTypeName(type));
    }
}

}  // namespace

Constant::Constant(DataType type, Dims dims, std::shared_ptr<const void> owner,
                   std::span<const std::byte> bytes)
    : m_type(type),
      m_dims(std::move(dims)),
      m_size(elementCount(m_dims)),
      m_owner(std::move(owner)),
      m_bytes(bytes),
      m_lazy(std::make_unique<Lazy>()) {
    const std::size_t neededBytes = static_cast<std::size_t>(m_size) * elementSize(type);
    if (elementSize(type) != 0 && m_bytes.size() != neededBytes)
        failInput("a {} tensor of shape {} needs {} bytes but has {}", dataTypeName(type), toString(m_dims),
                  neededBytes, m_bytes.size());
}

Constant::~Constant() = default;

ConstantPtr Constant::fromFloats(Dims dims, std::vector<float> values) {
    return fromVector(DataType::Float32, std::move(dims), std::move(values));
}

ConstantPtr Constant::fromInt64s(Dims dims, std::vector<std::int64_t> values) {
    return fromVector(DataType::Int64, std::move(dims), std::move(values));
}

ConstantPtr Constant::fromBytes(DataType type, Dims dims, std::vector<std::byte> bytes) {
    return fromVector(type, std::move(dims), std::move(bytes));
}

ConstantPtr Constant::view(DataType type, Dims dims, std::shared_ptr<const void> owner,
                           std::span<const std::byte> bytes) {
    // Kernels read floats in place.
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::int64_t) != 0) {
        std::vector<std::int64_t> aligned((bytes.size() + 7) / 8);
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        const auto copy = std::make_shared<const std::vector<std::int64_t>>(std::move(aligned));
        return std::make_shared<const Constant>(
            type, std::move(dims), copy,
            std::span(reinterpret_cast<const std::byte*>(copy->data()), bytes.size()));
    }
    return std::make_shared<const Constant>(type, std::move(dims), std::move(owner), bytes);
}

std::span<const float> Constant::floats() const {
    if (m_type != DataType::Float32)
        fail(ErrorKind::Unsupported, "a constant is {} where float32 is needed", dataTypeName(m_type));
    return {reinterpret_cast<const float*>(m_bytes.data()), static_cast<std::size_t>(m_size)};
}

std::vector<std::int64_t> Constant::toInt64s() const {
    if (m_type == DataType::Float32 || m_type == DataType::Float64 || m_type == DataType::Float16 ||
        m_type == DataType::BFloat16)
        failInput("a constant is {} where integers are needed", dataTypeName(m_type));
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(m_size));
    forEachElement(m_type, m_bytes, [&](auto value) { values.push_back(static_cast<std::int64_t>(value)); });
    return values;
}

std::vector<double> Constant::toDoubles() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(m_size));
    if (m_type == DataType::Float16 || m_type == DataType::BFloat16)
        forEachElement(DataType::UInt16, m_bytes, [&](auto given) {
            const auto bits = static_cast<std::uint16_t>(given);
            // bfloat16 is the upper half of a float32.
            values.push_back(m_type == DataType::Float16 ? halfToFloat(bits)
                                                         : std::bit_cast<float>(std::uint32_t{bits} << 16));
        });
    else
        forEachElement(m_type, m_bytes, [&](auto value) { values.push_back(static_cast<double>(value)); });
    return values;
}

double Constant::scalar() const {
    if (m_size != 1) failInput("a constant of shape {} where a single number is needed", toString(m_dims));
    return toDoubles().front();
}

const Version& Constant::version() const {
    std::call_once(m_lazy->versionOnce, [this] {
        VersionBuilder builder;
        builder.add(m_type).add(m_dims.size());
        for (const std::int64_t dim : m_dims) builder.add(dim);
        builder.addBytes(m_bytes.data(), m_bytes.size());
        m_lazy->version = builder.finish();
    });
    return m_lazy->version;
}

float Constant::largestMagnitude() const {
    if (m_type != DataType::Float32) return 0;
    std::call_once(m_lazy->magnitudeOnce, [this] {
        for (const float x : floats())
            m_lazy->largestMagnitude = std::max(m_lazy->largestMagnitude, std::fabs(x));
    });
    return m_lazy->largestMagnitude;
}

}  // namespace quantloupe
