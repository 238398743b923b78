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
#include "base/recycled_memory.h"
#include "runtime/codes.h"
#include "runtime/kernel_cache.h"

namespace quantloupe {

enum class Arithmetic {
    Simulation,  ///< everything in float32; quantized tensors are rounded in place: the reference
    Integer,     ///< tensors of up to 256 codes are carried as codes, units run in integers where a kernel can
};
/// Integer where this processor has the kernels.
Arithmetic bestArithmetic();

struct ProgramSpec {
    GraphPtr graph;
    /// The tensors that the caller provides, with their shapes: the graph's inputs or any cut.
    std::map<TensorId, TensorDesc> inputs;
    /// The tensors whose values the caller wants, as float32. They keep their buffers until the run ends.
    std::vector<TensorId> observed;
    /// Replace a tensor by its quantized and dequantized self, for all its readers and for the observer.
    std::unordered_map<TensorId, FakeQuant> quantizers;
    /// Stand in for the graph's own constants (quantized weights).
    std::unordered_map<TensorId, ConstantPtr> constants;

    Arithmetic arithmetic = Arithmetic::Simulation;
    /// The opset of the exported model whose results are wanted, where it is above the graph's: ONNX Runtime adds up
    /// AveragePool in another order since opset 19. What operators mean follows the graph's own opset.
    std::int64_t exportOpset = 0;
    /// Integer: the codes behind `constants`, of the units that run in integers.
    std::unordered_map<TensorId, std::shared_ptr<const ConstantCodes>> codes;
    /// Further inputs, with the values that an earlier run kept: quantized already, as codes where that run had codes.
    std::map<TensorId, TensorDesc> resumed;
    /// Tensors whose values the caller keeps for later runs: written straight to the memory that it binds.
    std::vector<TensorId> kept;
    /// Shapes of tensors, so that a Shape operator needs no run of what comes before it; may be null.
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> knownDims;
    /// Values that do not depend on the samples and that an earlier program for this batch size computed while compiling:
    /// shape arithmetic. A program that starts from a cut does not contain the tensors whose shapes they came from. May
    /// be null.
    std::shared_ptr<const std::unordered_map<TensorId, ConstantPtr>> knownConstants;
    /// Evaluates what can be evaluated: a node that is not supported, or whose result's shape depends on the data, and all
    /// nodes after it are left out (Program::unavailable()), and observed tensors among their outputs are missing.
    bool partial = false;
    /// The same program for a batch of one, where that exists (a partial one): sample layouts are checked against it, so
    /// that several samples at once give what each gives alone. May be null.
    std::shared_ptr<const class Program> one;
    /// Kernels of earlier programs; may be null.
    std::shared_ptr<KernelCache> kernels;
};

/// The network, or what `observed` needs of it, in float.
ProgramSpec floatProgram(GraphPtr graph, std::map<TensorId, TensorDesc> inputs, std::vector<TensorId> observed);

class Program;

/// The memory of one run at a time: one worker.
class Workspace {
  public:
    explicit Workspace(std::shared_ptr<const Program> program);

    /// Where an input's values are; they must stay there until run() is over.
    void bind(TensorId input, const void* data);
    /// Where run() writes a kept tensor, for each of program().kept().
    void bindKept(TensorId kept, void* data);
    /// An observed tensor after run().
    const void* data(TensorId observed) const;
    const Program& program() const { return *m_program; }
    const float* floats(TensorId observed) const { return static_cast<const float*>(data(observed)); }
    /// Throws Cancelled between layers.
    void run(const CancelToken& cancel = {});

  private:
    std::shared_ptr<const Program> m_program;
    RecycledMemory m_arena;
    std::vector<void*> m_buffers;
};

class Program {
  public:
    /// Throws Error naming the node for an operator that is not there or a shape that does not fit.
    static std::shared_ptr<const Program> compile(ProgramSpec spec);

    const Graph& graph() const { return *m_spec.graph; }
    /// Of an input or an observed tensor.
    const TensorDesc& desc(TensorId tensor) const;
    /// Those of the wanted that have memory of their own (an input, a constant or a view of a kept one has not).
    const std::map<TensorId, TensorDesc>& kept() const { return m_kept; }
    const std::map<TensorId, TensorDesc>& resumed() const { return m_spec.resumed; }
    /// False for an input that no step needs.
    bool reads(TensorId input) const { return m_values.contains(input); }
    /// Of every tensor that the program computes or reads.
    std::unordered_map<TensorId, Dims> allDims() const;
    std::size_t arenaBytes() const { return m_arenaBytes; }
    /// For ProgramSpec::knownConstants: integers and bools that were computed while compiling.
    const std::unordered_map<TensorId, ConstantPtr>& foldedConstants() const { return m_foldedConstants; }
    /// Whether some tensor depends on several samples at once, or its samples cannot be told apart (sample_flow.h).
    bool mixesSamples() const { return m_mixesSamples; }
    /// Of a partial program: the nodes that are not evaluated, each with the reason.
    const std::map<NodeId, std::string>& unavailable() const { return m_unavailable; }
    /// The value of an observed tensor that is known without running the program, else null.
    ConstantPtr constantValue(TensorId observed) const;
    /// Of a partial program: any constant that it knows, else null.
    ConstantPtr knownConstant(TensorId tensor) const;

    /// Where a tensor is while the program runs.
    struct Value {
        int buffer = -1;
        TensorDesc desc;
        bool coded = false;  ///< desc.type is UInt8: codes of the tensor's quantizer

        /// What an operator on float32 sees.
        TensorDesc floatDesc() const { return {coded ? DataType::Float32 : desc.type, desc.dims, desc.layout, desc.samples}; }
    };

  private:
    friend class ProgramCompiler;
    friend class Workspace;

    struct Buffer {
        std::size_t bytes = 0, offset = 0;
        int firstStep = -1, lastStep = -1;      ///< live range; -1: no memory of the arena
        const void* constant = nullptr;
        TensorId input;                         ///< bound by the caller
        bool external = false;                  ///< kept: the caller binds memory
    };
    struct Step {
        std::shared_ptr<const Kernel> kernel;
        std::vector<int> inputs, outputs;  ///< buffers; -1 = omitted
        int scratch = -1;
        NodeId node;                       ///< for error messages; invalid for conversions
    };

    ProgramSpec m_spec;
    std::vector<Buffer> m_buffers;
    std::vector<Step> m_steps;
    std::unordered_map<TensorId, Value> m_values;
    std::unordered_map<TensorId, Value> m_observed;  ///< decoded
    std::map<TensorId, TensorDesc> m_kept;
    std::vector<ConstantPtr> m_folded;  ///< constants that steps read
    std::unordered_map<TensorId, ConstantPtr> m_foldedConstants, m_constantOutputs, m_allConstants;
    std::map<NodeId, std::string> m_unavailable;
    bool m_mixesSamples = false;
    std::size_t m_arenaBytes = 0;
};

}  // namespace quantloupe
