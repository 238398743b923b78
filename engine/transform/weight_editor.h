// SPDX-License-Identifier: Apache-2.0
#pragma once
// Editable copies of the weights and biases of a graph's layers, from which a new graph is built.

#include <map>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

struct EditedLayer {
    WeightLayout layout;
    std::vector<float> weight;
    std::vector<float> bias;  ///< empty if the layer has none
};

class WeightEditor {
  public:
    explicit WeightEditor(GraphPtr graph) : m_graph(std::move(graph)) {}

    const Graph& graph() const { return *m_graph; }
    /// The layer's copy, created on first use. Its weight and bias must be float32 constants that no other
    /// node reads (findEqualizationSets returns only such layers). The reference stays valid when other
    /// layers are accessed.
    EditedLayer& layer(NodeId id);
    /// Sets a new value for a constant that is not a layer's weight or bias.
    void setConstant(TensorId id, ConstantPtr value) { m_constants[id] = std::move(value); }
    /// All layers accessed so far, by node.
    const std::map<NodeId, EditedLayer>& layers() const { return m_layers; }
    /// Returns the graph with the edited constants under their old names; node ids do not change.
    GraphPtr build() const;

  private:
    GraphPtr m_graph;
    std::map<NodeId, EditedLayer> m_layers;
    std::map<TensorId, ConstantPtr> m_constants;
};

}  // namespace quantloupe
