// SPDX-License-Identifier: Apache-2.0
#pragma once
// One operator, compiled for given shapes: created by the operator files and run by a Program.

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/graph.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The memory that a kernel reads and writes. Omitted inputs and outputs are null.
struct KernelArguments {
    std::span<const void* const> inputs;
    std::span<void* const> outputs;
    void* scratch = nullptr;
};

/// Immutable after construction, so that workers can share it.
class Kernel {
  public:
    virtual ~Kernel() = default;
    virtual void run(const KernelArguments& arguments) const = 0;
    virtual std::size_t scratchBytes() const { return 0; }
    /// Size of the weights that the kernel stores.
    virtual std::size_t weightBytes() const { return 0; }
};

/// `least` is applied first, as ONNX specifies for bounds in the wrong order. NaN and -0 are kept, as in ONNX
/// Runtime.
template <typename T>
T clipped(T x, T least, T most) {
    const T raised = x < least ? least : x;
    return raised > most ? most : raised;
}

/// An activation applied to the output (Relu, Clip), fused into the operator by the compiler.
struct Activation {
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();

    float operator()(float x) const { return clipped(x, low, high); }
};

/// The information from which an operator is compiled.
struct NodeContext {
    const Graph& graph;
    const Node& node;
    std::vector<TensorDesc> inputs;      ///< omitted inputs have type Undefined
    std::vector<ConstantPtr> constants;  ///< the value of each input that is known at compile time, else null
    const Activation* activation = nullptr;  ///< only for operators that fuse one
    std::int64_t exportOpset = 0;            ///< ProgramSpec::exportOpset

    bool has(std::size_t i) const { return i < inputs.size() && inputs[i].type != DataType::Undefined; }
    /// Throws Error if there is no such input.
    const TensorDesc& input(std::size_t i) const;
    const Constant* constant(std::size_t i) const {
        return i < constants.size() ? constants[i].get() : nullptr;
    }
    /// The value of an input that must be constant; `what` describes it in the Error.
    const Constant& needConstant(std::size_t i, std::string_view what) const;
    std::int64_t opset() const { return graph.opset(); }
};

struct CompiledNode {
    std::vector<TensorDesc> outputs;
    std::unique_ptr<Kernel> kernel;  ///< null for a view: output 0 has the bytes of input 0
};

/// The layout that an operator requires of its inputs.
enum class LayoutPolicy {
    Plain,         ///< row-major
    ChannelsLast,  ///< channels last for input 0 of rank 3 to 5, constants excepted
    Any,           ///< any layout: element-wise operator with one input
    Same,          ///< channels last if all inputs have the same shape, else each input's own layout
    Joined,        ///< channels last if any computed input is channels last
};

struct Operator {
    std::function<CompiledNode(const NodeContext&)> compile;
    LayoutPolicy layout = LayoutPolicy::Plain;
    bool fusesActivation = false;
    /// Each value of the output depends only on the values of the inputs at its position, broadcast.
    bool elementwise = false;
};

/// Returns null for an operator that the engine cannot run.
const Operator* findOperator(std::string_view domain, std::string_view op);

}  // namespace quantloupe
