// SPDX-License-Identifier: Apache-2.0
#include "model/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace quantloupe {

AxisExtents axisExtents(const Dims& dims, std::size_t axis) {
    AxisExtents split;
    for (std::size_t i = 0; i < dims.size(); ++i)
        (i < axis    ? split.outer
         : i == axis ? split.extent
                     : split.inner) *= static_cast<std::size_t>(dims[i]);
    return split;
}

std::int64_t elementCount(const Dims& dims) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
        if (dim < 0) failInput("a shape has the negative extent {}", dim);
        if (dim != 0 && count > kMost / dim) failInput("the shape {} is too large", toString(dims));
        count *= dim;
    }
    return count;
}

bool allOnes(std::span<const std::int64_t> values) {
    return std::ranges::all_of(values, [](std::int64_t value) { return value == 1; });
}

std::string toString(const Dims& dims) {
    return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "×"));
}

std::string toString(const Shape& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const Dim& dim : shape) {
        if (!text.empty()) text += "×";
        text += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
    }
    return text;
}

}  // namespace quantloupe
