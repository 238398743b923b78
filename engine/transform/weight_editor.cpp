// SPDX-License-Identifier: Apache-2.0
#include "transform/weight_editor.h"

#include "base/error.h"
#include "model/graph_builder.h"
#include "transform/scalable_layer.h"

namespace quantloupe {

EditedLayer& WeightEditor::layer(NodeId id) {
    const auto found = m_layers.find(id);
    if (found != m_layers.end()) return found->second;

    const Node& node = m_graph->node(id);
    const Constant* weight = m_graph->constantOf(node.input(1));
    const auto layout = layoutOf(*m_graph, id);
    if (!layout) fail(ErrorKind::Internal, "the weight of '{}' cannot be edited", node.name);
    EditedLayer edited;
    edited.layout = *layout;
    edited.weight.assign(weight->floats().begin(), weight->floats().end());
    if (const Constant* bias = m_graph->constantOf(node.input(2)))
        edited.bias.assign(bias->floats().begin(), bias->floats().end());
    return m_layers.emplace(id, std::move(edited)).first->second;
}

GraphPtr WeightEditor::build() const {
    if (m_layers.empty() && m_constants.empty()) return m_graph;
    GraphBuilder builder(*m_graph);
    for (const auto& [id, value] : m_constants) builder.setConstant(id, value);
    for (const auto& [id, edited] : m_layers) {
        const Node& node = m_graph->node(id);
        builder.setConstant(node.input(1), Constant::fromFloats(edited.layout.dims, edited.weight));
        if (!edited.bias.empty())
            builder.setConstant(
                node.input(2), Constant::fromFloats(m_graph->constantOf(node.input(2))->dims(), edited.bias));
    }
    // The graph is already sorted and the sort is stable, so the ids do not change.
    return builder.build();
}

}  // namespace quantloupe
