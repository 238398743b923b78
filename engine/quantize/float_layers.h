// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers that stay in float because of the values that they read or compute, whatever their operator is.

#include <set>
#include <string>

#include "model/graph.h"

namespace quantloupe {

/// Any thread.
class FloatLayers {
  public:
    explicit FloatLayers(const Graph& graph);

    /// Returns why the layer stays in float; an empty text if its values do not require it.
    std::string reasonFor(const Node& node) const;

  private:
    /// Computed from constants and shapes alone, such as positions and the sizes of paddings. Rounding such
    /// values to codes would change the shapes and indices that are computed from them.
    std::set<TensorId> m_fixed;
    /// With infinite values, such as the mask of an attention layer. They have no range.
    std::set<TensorId> m_infinite;
    /// Both an input and an output of the network. The name stands for both, so that a file cannot contain a
    /// quantizer between them.
    std::set<TensorId> m_passed;
};

}  // namespace quantloupe
