// SPDX-License-Identifier: Apache-2.0
#pragma once
// Indices in tensors, for Gather, Scatter and related operators.

#include "base/error.h"
#include "runtime/operators/operators.h"

namespace quantloupe {

/// Reads int32 or int64 indices along an axis; negative ones count from its end.
class Indices {
  public:
    Indices(const NodeContext& context, std::size_t input)
        : m_wide(context.input(input).type == DataType::Int64),
          m_text(fmt::format("{}'s index in '{}'", context.node.op,
                             context.graph.tensor(context.node.input(input)).name)) {
        if (!m_wide && context.input(input).type != DataType::Int32)
            failInput("the indices of {} must be int32 or int64, not {}", context.node.op,
                      dataTypeName(context.input(input).type));
    }

    std::size_t at(const void* indices, std::size_t i, std::size_t extent) const {
        const std::int64_t index = m_wide ? static_cast<const std::int64_t*>(indices)[i]
                                          : static_cast<const std::int32_t*>(indices)[i];
        const auto limit = static_cast<std::int64_t>(extent);
        if (index < -limit || index >= limit)
            failInput("{} is {}, out of range for {} entries", m_text, index, extent);
        return static_cast<std::size_t>(index < 0 ? index + limit : index);
    }

  private:
    bool m_wide;
    std::string m_text;
};

}  // namespace quantloupe
