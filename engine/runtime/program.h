// SPDX-License-Identifier: Apache-2.0
#pragma once
// A graph, or a part of it, compiled for one batch size: schedule, shapes, layouts, buffers. Immutable; workers share it,
// each with a Workspace of its own.
//
// compile(): takes the nodes that the observed tensors need, in graph order; folds what is constant once shapes are
// known; fuses a Relu or Clip into the operator before it where nobody looks in between; inserts layout conversions;
// applies quantizers to tensors as they appear; lets buffers whose live ranges do not meet share memory.

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/cancel.h"
#include "runtime/fake_quant.h"
#include "runtime/kernel.h"

namespace quantloupe {

struct ProgramSpec {
    GraphPtr graph;
    /// The tensors that the caller provides, with their shapes: the graph's inputs or any cut.
    std::map<TensorId, TensorDesc> inputs;
    /// The tensors whose values the caller wants. They keep their buffers until the run ends.
    std::vector<TensorId> observed;
    /// Replace a tensor by its quantized and dequantized self, for all its readers and for the observer.
    std::unordered_map<TensorId, FakeQuant> quantizers;
    /// Stand in for the graph's own constants (quantized weights).
    std::unordered_map<TensorId, ConstantPtr> constants;
};

class Program;

/// The memory of one run at a time: one worker.
class Workspace {
  public:
    explicit Workspace(std::shared_ptr<const Program> program);

    /// Where an input's values are; they must stay there until run() is over.
    void bind(TensorId input, const void* data);
    /// An observed tensor after run().
    const void* data(TensorId observed) const;
    const Program& program() const { return *m_program; }
    const float* floats(TensorId observed) const { return static_cast<const float*>(data(observed)); }
    /// Throws Cancelled between layers.
    void run(const CancelToken& cancel = {});

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::shared_ptr<const Program> m_program;
    std::unique_ptr<std::byte, Free> m_arena;
    std::vector<void*> m_buffers;
};

class Program {
  public:
    /// Throws Error naming the node for an operator that is not there or a shape that does not fit.
    static std::shared_ptr<const Program> compile(ProgramSpec spec);

    const Graph& graph() const { return *m_spec.graph; }
    /// Of an input or an observed tensor.
    const TensorDesc& desc(TensorId tensor) const;
    std::size_t arenaBytes() const { return m_arenaBytes; }

  private:
    friend class ProgramCompiler;
    friend class Workspace;

    struct Buffer {
        std::size_t bytes = 0, offset = 0;
        int firstStep = -1, lastStep = -1;      ///< live range; -1: no memory of the arena
        const void* constant = nullptr;
        TensorId input;                         ///< bound by the caller
    };
    struct Step {
        std::unique_ptr<Kernel> kernel;
        std::vector<int> inputs, outputs;  ///< buffers; -1 = omitted
        int scratch = -1;
        NodeId node;                       ///< for error messages; invalid for conversions
    };
    struct Value {
        int buffer = -1;
        TensorDesc desc;
    };

    ProgramSpec m_spec;
    std::vector<Buffer> m_buffers;
    std::vector<Step> m_steps;
    std::unordered_map<TensorId, Value> m_values;
    std::vector<ConstantPtr> m_folded;  ///< constants computed while compiling
    std::size_t m_arenaBytes = 0;
};

/// Operators of the graph that the engine cannot run: "NonMaxSuppression (node 'nms')", each once. Empty: all known.
std::vector<std::string> unknownOperators(const Graph& graph);

}  // namespace quantloupe
