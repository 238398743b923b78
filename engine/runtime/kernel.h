// SPDX-License-Identifier: Apache-2.0
#pragma once
// One operator, compiled for given shapes: what an operator file makes and a Program runs.

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/graph.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The memory that a kernel works on. Omitted inputs and outputs are null.
struct KernelArguments {
    std::span<const void* const> inputs;
    std::span<void* const> outputs;
    void* scratch = nullptr;
};

/// Immutable after construction: workers share it.
class Kernel {
  public:
    virtual ~Kernel() = default;
    virtual void run(const KernelArguments& arguments) const = 0;
    virtual std::size_t scratchBytes() const { return 0; }
    /// Of weights that the kernel keeps.
    virtual std::size_t weightBytes() const { return 0; }
};

/// An activation to apply to the output (Relu, Clip), fused behind the operator by the compiler.
struct Activation {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
};

/// What an operator sees when it is compiled.
struct NodeContext {
    const Graph& graph;
    const Node& node;
    std::vector<TensorDesc> inputs;         ///< of omitted inputs: type Undefined
    std::vector<ConstantPtr> constants;  ///< the value where an input is known now, else null
    const Activation* activation = nullptr;  ///< only for operators that fuse one
    std::int64_t exportOpset = 0;            ///< ProgramSpec::exportOpset

    bool has(std::size_t i) const { return i < inputs.size() && inputs[i].type != DataType::Undefined; }
    /// Throws Error if the input is not there.
    const TensorDesc& input(std::size_t i) const;
    const Constant* constant(std::size_t i) const { return i < constants.size() ? constants[i].get() : nullptr; }
    /// The value of an input that must be constant; the Error says what it is for.
    const Constant& needConstant(std::size_t i, std::string_view what) const;
    std::int64_t opset() const { return graph.opset(); }
};

struct CompiledNode {
    std::vector<TensorDesc> outputs;
    std::unique_ptr<Kernel> kernel;  ///< null for a view: output 0 has the bytes of input 0
};

/// In which layout an operator wants its inputs.
enum class LayoutPolicy {
    Plain,         ///< row-major
    ChannelsLast,  ///< channels last for input 0 of rank 3 to 5, constants excepted
    Any,           ///< whatever comes: works element by element on one input
    Same,          ///< channels last if all inputs have the same shape, else each as it comes
    Joined,        ///< channels last if any input is that is computed
};

struct Operator {
    std::function<CompiledNode(const NodeContext&)> compile;
    LayoutPolicy layout = LayoutPolicy::Plain;
    bool fusesActivation = false;
};

/// Null for an operator that the engine cannot run.
const Operator* findOperator(std::string_view domain, std::string_view op);

}  // namespace quantloupe
