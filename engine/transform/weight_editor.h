// SPDX-License-Identifier: Apache-2.0
#pragma once
// Working copies of the weights and biases of a graph's convolutions, and the graph that has them.

#include <map>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

struct EditedLayer {
    WeightLayout layout;
    std::vector<float> weight;
    std::vector<float> bias;  ///< empty: the layer has none
};

class WeightEditor {
  public:
    explicit WeightEditor(GraphPtr graph) : m_graph(std::move(graph)) {}

    const Graph& graph() const { return *m_graph; }
    /// The layer's copy, made on first use. Its weight and bias must be float32 constants that no other node
    /// reads (findEqualizationSets gives no others). Stays valid while other layers are asked for.
    EditedLayer& layer(NodeId id);
    /// A new value for a constant that is no layer's weight or bias.
    void setConstant(TensorId id, ConstantPtr value) { m_constants[id] = std::move(value); }
    /// All layers asked for so far, by node.
    const std::map<NodeId, EditedLayer>& layers() const { return m_layers; }
    /// The graph with the edited constants under their old names; node ids stay as they are.
    GraphPtr build() const;

  private:
    GraphPtr m_graph;
    std::map<NodeId, EditedLayer> m_layers;
    std::map<TensorId, ConstantPtr> m_constants;
};

}  // namespace quantloupe
