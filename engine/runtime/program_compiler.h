// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a Program; internal to program.cpp.

#include <optional>

#include "runtime/fusions.h"
#include "runtime/program.h"

namespace quantloupe {

class ProgramCompiler {
  public:
    explicit ProgramCompiler(ProgramSpec spec);
    std::shared_ptr<const Program> compile();

  private:
    using Value = Program::Value;

    std::vector<NodeId> schedule() const;
    void addInputs();
    void addNode(NodeId id);
    void addView(const Node& node, Layout from, TensorDesc desc);
    bool foldConstant(const NodeContext& context, CompiledNode& compiled);
    std::optional<Fusion> fusionAt(NodeId id) const;
    /// The Relu or Clip behind the node that can run inside it.
    NodeId fusableActivation(const Node& node, Activation& activation) const;
    NodeContext contextOf(const Node& node);
    /// Nothing: every input as it comes.
    std::optional<Layout> wantedLayout(const Operator& op, const Node& node) const;
    /// Buffer of a tensor in a layout; adds a conversion if it is in another.
    int bufferIn(TensorId tensor, Layout layout);
    const Value& valueOf(TensorId tensor);
    void finish(TensorId tensor, int buffer, const TensorDesc& desc);
    int newBuffer(std::size_t bytes);
    void addStep(std::unique_ptr<Kernel> kernel, std::vector<int> inputs, std::vector<int> outputs, NodeId node);
    void placeBuffers();
    bool observed(TensorId tensor) const;

    std::shared_ptr<Program> m_program;
    const Graph& m_graph;
    std::unordered_map<TensorId, ConstantPtr> m_constants;  ///< known values, given or folded
    std::unordered_map<TensorId, int> m_converted;          ///< channels-last or plain copies
    std::vector<bool> m_done;                               ///< nodes fused into another
};

}  // namespace quantloupe
