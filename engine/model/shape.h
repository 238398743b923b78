// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes of constants and tensors at run time (Dims, all known) and of the model's tensors (Shape, may be
// symbolic).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quantloupe {

using Dims = std::vector<std::int64_t>;

/// A known extent, a symbol such as "N", or unknown.
struct Dim {
    std::int64_t value = -1;
    std::string symbol;
    bool known() const { return value >= 0; }
    bool operator==(const Dim&) const = default;
};
using Shape = std::vector<Dim>;

/// A shape split at an axis: element i at index k of the axis in block o is at (o * extent + k) * inner + i.
struct AxisExtents {
    std::size_t outer = 1, extent = 1, inner = 1;
};
/// `axis` must be below the rank.
AxisExtents axisExtents(const Dims& dims, std::size_t axis);

/// Number of elements; 1 for a scalar. Throws Error on a negative extent or one beyond 2^40 elements.
std::int64_t elementCount(const Dims& dims);
/// Whether all extents, strides or dilations are 1. True for an empty list.
bool allOnes(std::span<const std::int64_t> values);
/// "1×3×32×32"; "scalar" without dimensions.
std::string toString(const Dims& dims);
/// "N×3×32×32"; "?" for an unknown extent.
std::string toString(const Shape& shape);

}  // namespace quantloupe
