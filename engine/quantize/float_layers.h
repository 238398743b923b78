// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers that stay in float because of the values that they read or compute, whatever their operator is.

#include <set>
#include <string>
#include <string_view>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// In the reasons of layers whose constants are computed.
inline constexpr std::string_view kSimplifyAdvice = "turn on Simplify (--simplify)";

/// Returns why `what` of a layer, its weight or bias, cannot be quantized: it is not a constant float32
/// tensor.
std::string notConstant(const Graph& graph, TensorId tensor, std::string_view what);

/// Any thread.
class FloatLayers {
  public:
    FloatLayers(const Graph& graph, OperatorSet operators);

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
    /// Sums that only a Softmax reads, which computes in float. They can contain a mask, whose range would
    /// leave few codes for the scores.
    std::set<TensorId> m_scores;
};

}  // namespace quantloupe
