// SPDX-License-Identifier: Apache-2.0
#pragma once
// How decoders find their outputs by shape and name. Internal to engine/analysis.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/box_decoders.h"
#include "base/text.h"

namespace quantloupe {

using Shapes = std::span<const OutputShape>;
using Found = std::optional<DecoderOutputs>;

inline Dims withoutOnes(const Dims& dims, std::size_t rank) {
    Dims result = dims;
    while (result.size() > rank && result.front() == 1) result.erase(result.begin());
    return result;
}

inline bool nameContains(const OutputShape& shape, std::string_view part) {
    return lowerCase(shape.name).find(part) != std::string::npos;
}

/// Number of cells of the strides 8, 16 and 32.
inline std::int64_t gridCells(InputSize input) {
    std::int64_t cells = 0;
    for (const int stride : {8, 16, 32})
        cells += static_cast<std::int64_t>((input.width + stride - 1) / stride) *
                 ((input.height + stride - 1) / stride);
    return cells;
}

/// Calls use(index, dims) for the float outputs of rank 2, until it returns a result.
template <typename Use>
Found firstMatrix(Shapes outputs, Use use) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Dims dims = withoutOnes(outputs[o].dims, 2);
        if (outputs[o].type != DataType::Float32 || dims.size() != 2) continue;
        if (Found found = use(o, dims)) return found;
    }
    return std::nullopt;
}

inline bool nameContainsAny(const OutputShape& shape, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return nameContains(shape, part); });
}

/// Returns the first of the outputs with the highest rating; empty if no rating is above 0.
template <typename Rate>
std::optional<std::size_t> bestRated(Shapes outputs, Rate rate) {
    std::optional<std::size_t> best;
    int highest = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (const int rating = rate(outputs[o]); rating > highest) {
            highest = rating;
            best = o;
        }
    return best;
}

}  // namespace quantloupe
