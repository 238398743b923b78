// SPDX-License-Identifier: Apache-2.0
#pragma once
// A graph, or a part of it, compiled for one batch size: schedule, shapes, layouts, buffers. Immutable;
// workers share it, each with its own Workspace.
//
// compile() takes the nodes that the observed tensors need, in graph order; folds values that are constant
// once shapes are known; fuses a Relu or Clip into the operator before it if the intermediate result is not
// needed; inserts layout conversions; applies quantizers to tensors as they are computed; and lets buffers
// with disjoint live ranges share memory.

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/cancel.h"
#include "base/recycled_memory.h"
#include "runtime/integer/codes.h"
#include "runtime/program/kernel_cache.h"

namespace quantloupe {

enum class Arithmetic {
    Simulation,  ///< everything in float32; quantized tensors are rounded in place: the reference
    /// Tensors of up to 256 codes are stored as codes; units run in integers if a kernel supports them.
    Integer,
};
/// Integer if this processor supports the kernels.
Arithmetic bestArithmetic();

struct ProgramSpec {
    GraphPtr graph;
    /// The tensors that the caller provides, with their shapes: the graph's inputs or any cut.
    std::map<TensorId, TensorDesc> inputs;
    /// The tensors whose values the caller needs, as float32. They keep their buffers until the end of the
    /// run.
    std::vector<TensorId> observed;
    /// Quantizes and dequantizes a tensor for all its readers and for the observer.
    std::unordered_map<TensorId, FakeQuant> quantizers;
    /// Replacements for the graph's own constants (quantized weights).
    std::unordered_map<TensorId, ConstantPtr> constants;

    Arithmetic arithmetic = Arithmetic::Simulation;
    /// The opset of the exported model to be simulated, if it is above the graph's: since opset 19, ONNX
    /// Runtime sums AveragePool in another order. The semantics of operators follow the graph's own opset.
    std::int64_t exportOpset = 0;
    /// For Arithmetic::Integer: the codes of `constants`, for the units that run in integers.
    std::unordered_map<TensorId, std::shared_ptr<const ConstantCodes>> codes;
    /// Further inputs with values kept by an earlier run: already quantized, as codes if that run used codes.
    std::map<TensorId, TensorDesc> resumed;
    /// Tensors whose values the caller keeps for later runs, written directly to memory that it binds.
    std::vector<TensorId> kept;
    /// Known shapes of tensors, so that a Shape operator does not need the nodes before it; may be null.
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> knownDims;
    /// Values that do not depend on the samples and that an earlier program for this batch size computed at
    /// compile time: shape arithmetic. A program that starts from a cut does not contain the tensors whose
    /// shapes they came from. May be null.
    std::shared_ptr<const std::unordered_map<TensorId, ConstantPtr>> knownConstants;
    /// Evaluates as much as possible: nodes that are not supported, or whose output shape depends on the
    /// data, are left out together with all nodes downstream (Program::unavailable()); observed tensors among
    /// their outputs are missing.
    bool partial = false;
    /// Keep observed tensors as codes (Program::codesOf()) if they are stored as codes and their samples form
    /// a single run.
    bool observedCodes = false;
    /// The same program for a batch of one, if there is one (for a partial program). Sample layouts are
    /// checked against it, so that a batch of several samples gives the same results as each sample alone.
    /// May be null.
    std::shared_ptr<const class Program> one;
    /// Kernels of earlier programs; may be null.
    std::shared_ptr<KernelCache> kernels;
};

/// The network in float, or the part of it that `observed` needs.
ProgramSpec floatProgram(GraphPtr graph, std::map<TensorId, TensorDesc> inputs,
                         std::vector<TensorId> observed);

class Program;

/// The memory of one run at a time; one per worker.
class Workspace {
  public:
    explicit Workspace(std::shared_ptr<const Program> program);

    /// Sets the address of an input's values, which must stay valid until run() returns.
    void bind(TensorId input, const void* data);
    /// Sets where run() writes a kept tensor, for each of program().kept().
    void bindKept(TensorId kept, void* data);
    /// The values of an observed tensor after run().
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
    /// Throws Error naming the node for an unknown operator or an invalid shape.
    static std::shared_ptr<const Program> compile(ProgramSpec spec);

    const Graph& graph() const { return *m_spec.graph; }
    /// The description of an input or an observed tensor.
    const TensorDesc& desc(TensorId tensor) const;
    /// Returns the quantizer of an observed tensor that is stored as codes, otherwise null.
    const FakeQuant* codesOf(TensorId observed) const;
    /// The requested kept tensors that have memory of their own (inputs, constants and views of kept tensors
    /// do not).
    const std::map<TensorId, TensorDesc>& kept() const { return m_kept; }
    const std::map<TensorId, TensorDesc>& resumed() const { return m_spec.resumed; }
    /// False for an input that no step needs.
    bool reads(TensorId input) const { return m_values.contains(input); }
    /// The shapes of all tensors that the program computes or reads.
    std::unordered_map<TensorId, Dims> allDims() const;
    std::size_t arenaBytes() const { return m_arenaBytes; }
    /// For ProgramSpec::knownConstants: integers and bools computed at compile time.
    const std::unordered_map<TensorId, ConstantPtr>& foldedConstants() const { return m_foldedConstants; }
    /// Whether some tensor depends on several samples at once, or its samples cannot be separated
    /// (sample_flow.h).
    bool mixesSamples() const { return m_mixesSamples; }
    /// For a partial program: the nodes that are not evaluated, each with the reason.
    const std::map<NodeId, std::string>& unavailable() const { return m_unavailable; }
    /// The value of an observed tensor that is known without running the program, else null.
    ConstantPtr constantValue(TensorId observed) const;
    /// For a partial program: the value of a constant if it is known, else null.
    ConstantPtr knownConstant(TensorId tensor) const;

    /// The location of a tensor while the program runs.
    struct Value {
        int buffer = -1;
        TensorDesc desc;
        bool coded = false;  ///< desc.type is UInt8: codes of the tensor's quantizer

        /// The description as an operator on float32 sees it.
        TensorDesc floatDesc() const {
            return {coded ? DataType::Float32 : desc.type, desc.dims, desc.layout, desc.samples};
        }
    };

  private:
    friend class ProgramCompiler;
    friend class Workspace;

    struct Buffer {
        std::size_t bytes = 0, offset = 0;
        int firstStep = -1, lastStep = -1;  ///< live range; -1: not in the arena
        const void* constant = nullptr;
        TensorId input;         ///< bound by the caller
        bool external = false;  ///< kept: memory is bound by the caller
    };
    struct Step {
        std::shared_ptr<const Kernel> kernel;
        std::vector<int> inputs, outputs;  ///< buffers; -1 = omitted
        int scratch = -1;
        NodeId node;  ///< for error messages; invalid for conversions
    };

    ProgramSpec m_spec;
    std::vector<Buffer> m_buffers;
    std::vector<Step> m_steps;
    std::unordered_map<TensorId, Value> m_values;
    std::unordered_map<TensorId, Value> m_observed;  ///< decoded, except codesOf()
    std::map<TensorId, TensorDesc> m_kept;
    std::vector<ConstantPtr> m_folded;  ///< constants that steps read
    std::unordered_map<TensorId, ConstantPtr> m_foldedConstants, m_constantOutputs, m_allConstants;
    std::map<NodeId, std::string> m_unavailable;
    bool m_mixesSamples = false;
    std::size_t m_arenaBytes = 0;
};

}  // namespace quantloupe
