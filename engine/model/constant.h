// SPDX-License-Identifier: Apache-2.0
#pragma once
// A constant tensor: an initializer or the value of a Constant node. Immutable; graphs share them.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/version.h"
#include "model/data_type.h"
#include "model/shape.h"

namespace quantloupe {

class Constant;
using ConstantPtr = std::shared_ptr<const Constant>;

class Constant {
  public:
    static ConstantPtr fromFloats(Dims dims, std::vector<float> values);
    static ConstantPtr fromInt64s(Dims dims, std::vector<std::int64_t> values);
    /// Takes ownership of the bytes (row-major, little endian).
    static ConstantPtr fromBytes(DataType type, Dims dims, std::vector<std::byte> bytes);
    /// Refers to bytes that `owner` keeps alive, so that weights are not copied out of the parsed model.
    static ConstantPtr view(DataType type, Dims dims, std::shared_ptr<const void> owner,
                            std::span<const std::byte> bytes);

    DataType type() const { return m_type; }
    const Dims& dims() const { return m_dims; }
    std::int64_t size() const { return m_size; }
    std::span<const std::byte> bytes() const { return m_bytes; }

    /// The elements; throws Error unless the type is Float32.
    std::span<const float> floats() const;
    /// The elements of any integer or bool type, converted. Throws Error for other types.
    std::vector<std::int64_t> toInt64s() const;
    /// The elements of any numeric type, converted.
    std::vector<double> toDoubles() const;
    /// The only element, of any numeric type; throws Error unless there is exactly one.
    double scalar() const;

    /// Hash of type, shape and bytes, computed once on first use. Any thread.
    const Version& version() const;
    /// The largest magnitude of float32 values, which may be infinite; determined once on first use. 0 for
    /// other types. Any thread.
    float largestMagnitude() const;

    Constant(DataType type, Dims dims, std::shared_ptr<const void> owner, std::span<const std::byte> bytes);
    ~Constant();

  private:
    struct Lazy;
    DataType m_type;
    Dims m_dims;
    std::int64_t m_size;
    std::shared_ptr<const void> m_owner;
    std::span<const std::byte> m_bytes;
    std::unique_ptr<Lazy> m_lazy;
};

}  // namespace quantloupe
