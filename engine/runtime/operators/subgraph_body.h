// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bodies of If, Loop and Scan, each compiled to a program of its own. Internal to runtime/operators.

#include <vector>

#include "runtime/operators/operators.h"
#include "runtime/program/program.h"

namespace quantloupe {

/// The argument for one input of a subgraph: a known value or a description.
struct BodyInput {
    TensorDesc desc;
    ConstantPtr value = {};
};

/// Input `i` of the node.
BodyInput bodyInputOf(const NodeContext& context, std::size_t i);
/// A value for input `i` of a subgraph: a scalar, or of one dimension where the subgraph declares that, as in
/// ONNX Runtime.
BodyInput scalarBodyInput(const Graph& subgraph, std::size_t i, DataType type, std::int64_t value);

/// A compiled subgraph. Its outputs are in plain layout.
class Body {
  public:
    Body(GraphPtr owner, std::vector<BodyInput> inputs, std::int64_t exportOpset);

    std::size_t outputs() const { return m_outputs.size(); }
    TensorDesc desc(std::size_t o) const;
    /// Returns null unless the value is known without running.
    ConstantPtr value(std::size_t o) const { return m_program->constantValue(m_outputs[o]); }
    BodyInput asInput(std::size_t o) const { return {desc(o), value(o)}; }
    const std::vector<BodyInput>& inputs() const { return m_inputs; }

    /// `inputs` has one pointer for each input of the subgraph; those of known values are not read.
    void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) const;

  private:
    std::vector<BodyInput> m_inputs;
    std::vector<TensorId> m_graphInputs, m_outputs;
    std::shared_ptr<const Program> m_program;
};

/// A subgraph of a node and the positions of its captured inputs among the node's inputs.
struct Subgraph {
    GraphPtr graph;
    std::vector<std::size_t> captured;
};

/// The subgraph in the attribute `name`; throws Error if the node has none.
Subgraph subgraphOf(const NodeContext& context, const char* name);
/// Compiles it; `own` are the arguments before the captured ones.
Body makeBody(const Subgraph& subgraph, std::vector<BodyInput> own, const NodeContext& context);

}  // namespace quantloupe
