// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds a Graph from scratch or from another graph. Constants are shared, never copied.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Maps ids of the builder to ids in the built graph (an invalid id: removed).
struct BuiltIds {
    std::vector<NodeId> nodes;
    std::vector<TensorId> tensors;
};

class GraphBuilder {
  public:
    GraphBuilder() = default;
    /// Starts with a copy of `source`, whose ids are valid in this builder until build().
    explicit GraphBuilder(const Graph& source);

    ModelFacts& facts() { return m_facts; }

    /// Returns the tensor with this name; adds it if there is none.
    TensorId tensor(const std::string& name);
    TensorInfo& tensorInfo(TensorId id) { return m_tensors[id.index()]; }
    bool hasTensor(const std::string& name) const { return m_tensorByName.contains(name); }
    /// Returns a name that no tensor has: `stem`, or `stem` followed by _1, _2...
    std::string unusedTensorName(const std::string& stem);

    TensorId addConstant(const std::string& name, ConstantPtr value);
    void setConstant(TensorId id, ConstantPtr value);
    void addInput(TensorId id, DataType type, std::optional<Shape> shape);
    void addOutput(TensorId id);

    /// Returns a name that no node has: `stem`, or `stem` followed by _1, _2... Nodes must not be renamed
    /// after the first call.
    std::string unusedNodeName(const std::string& stem);
    NodeId addNode(Node node);
    Node& node(NodeId id) { return m_nodes[id.index()]; }
    std::size_t nodeCount() const { return m_nodes.size(); }
    bool removed(NodeId id) const { return m_removed[id.index()]; }
    void removeNode(NodeId id) { m_removed[id.index()] = true; }
    /// Makes every node that reads `from` read `to` instead. Graph outputs are unchanged.
    void replaceUses(TensorId from, TensorId to);

    /// Validates the graph (one producer per tensor, every input produced, unique names, no cycle; Error
    /// otherwise), sorts it topologically (stable: keeps file order where valid), and drops removed nodes and
    /// unused constants.
    GraphPtr build(BuiltIds* ids = nullptr);

  private:
    /// Returns the node that produces each tensor. Throws Error if there are two, or if it is an input.
    std::vector<NodeId> findProducers() const;
    /// Returns the kept nodes in topological order. Of the nodes that are ready, the first in file order
    /// comes first, so that a sorted file keeps its order. Throws Error for a cycle or a missing tensor.
    std::vector<std::size_t> sortedNodes(const std::vector<NodeId>& producer) const;
    /// Returns, for each tensor, whether a kept node, an input or an output refers to it. Throws Error for an
    /// output that nothing produces.
    std::vector<char> referencedTensors(const std::vector<std::size_t>& order,
                                        const std::vector<NodeId>& producer) const;

    std::vector<Node> m_nodes;
    std::vector<char> m_removed;
    std::unordered_set<std::string> m_nodeNames;  ///< of all nodes, once unusedNodeName() was called
    std::vector<TensorInfo> m_tensors;
    std::unordered_map<std::string, TensorId> m_tensorByName;
    std::unordered_map<std::string, int> m_nextNumber;  ///< of unusedTensorName(), by stem
    std::vector<TensorId> m_inputs, m_outputs;
    ModelFacts m_facts;
};

}  // namespace quantloupe
