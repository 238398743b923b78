// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a running tensor looks like: type, logical shape, physical order.

#include <cstddef>

#include "model/data_type.h"
#include "model/shape.h"

namespace quantloupe {

/// Order in memory of a tensor with logical dimensions N, C, spatial...
enum class Layout {
    Plain,         ///< row-major over the logical dimensions
    ChannelsLast,  ///< N, spatial..., C (what oneDNN's convolutions like best); rank 3 and more only
};

struct TensorDesc {
    DataType type = DataType::Float32;
    Dims dims;
    Layout layout = Layout::Plain;

    std::size_t count() const { return static_cast<std::size_t>(elementCount(dims)); }
    std::size_t bytes() const { return count() * elementSize(type); }
    bool operator==(const TensorDesc&) const = default;

    /// The dimensions in the order in which memory runs through them, the fastest last.
    std::vector<std::size_t> memoryOrder() const;
    /// Elements from one index to the next, for each logical dimension.
    std::vector<std::ptrdiff_t> strides() const;
};

/// Copies float elements from one layout to the other. Both descs have the same dims.
void convertLayout(const TensorDesc& from, const void* source, Layout to, void* target);

}  // namespace quantloupe
