// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes of constants and tensors at run time (Dims, all known) and of the model's tensors (Shape, may be
// symbolic).

#include <cstdint>
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

/// Number of elements; 1 for a scalar. Throws Error on a negative extent or one beyond 2^40 elements.
std::int64_t elementCount(const Dims& dims);
/// "1×3×32×32"; "scalar" without dimensions.
std::string toString(const Dims& dims);
/// "N×3×32×32"; "?" for an unknown extent.
std::string toString(const Shape& shape);

}  // namespace quantloupe
