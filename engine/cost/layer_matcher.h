// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the layers that a name in a profile stands for. Runtimes rename and fuse layers: "Conv_0 +
// PWN(Clip_3)", "{ForeignNode[A...B]}" (TensorRT), "X_output_0_nchwc", "Conv_0_token_12" (ONNX Runtime),
// "_block_Conv" (Qualcomm), "X_QuantizeLinear" (quantized models).

#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/layer_work.h"
#include "model/graph.h"

namespace quantloupe {

class LayerMatcher {
  public:
    /// Keeps a reference to the graph.
    LayerMatcher(const Graph& source, const NetworkWork& work);

    /// Returns the layers in graph order, each replaced by the layer that computes it; empty if no layer
    /// matches. A tensor stands for the node that produces it, a constant or graph input for the node that
    /// reads it.
    std::vector<std::size_t> match(std::string_view recorded) const;

  private:
    using Names = std::unordered_map<std::string, std::size_t>;

    void add(const std::string& name, std::size_t node);
    std::optional<std::size_t> nodeOf(std::string_view text) const;

    const Graph& m_graph;
    std::vector<std::size_t> m_hosts;
    std::size_t m_longest = 0;  ///< length of the longest name
    Names m_names;              ///< source node by name of a node or tensor
    Names m_sanitized;          ///< the same with every character that is not a letter or digit replaced by _
};

}  // namespace quantloupe
