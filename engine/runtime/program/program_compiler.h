// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds a Program; internal to program.cpp.

#include <optional>
#include <set>

#include "runtime/program/fusions.h"
#include "runtime/program/program.h"

namespace quantloupe {

class ProgramCompiler {
  public:
    explicit ProgramCompiler(ProgramSpec spec);
    std::shared_ptr<const Program> compile();

  private:
    using Value = Program::Value;
    /// Like CompiledNode, but the kernel is shared with the cache.
    struct Compiled {
        std::vector<TensorDesc> outputs;
        std::shared_ptr<const Kernel> kernel;
    };

    std::vector<NodeId> schedule();
    const Dims* knownDims(TensorId tensor) const;
    void addInputs();
    void addShapeOnly();
    void addNode(NodeId id);
    void followNode(const NodeContext& context, NodeId fused, std::vector<TensorDesc>& outputs);
    void addOrLeaveOut(NodeId id);
    void noteConstants();
    void addView(const Node& node, Layout from, TensorDesc desc);
    /// Adds a node that reads codes if a kernel on codes supports it; returns whether it was added.
    /// (coded_nodes.cpp)
    bool addCoded(NodeId id);
    bool addCodedFusion(const Fusion& fusion);
    bool addCodedProduct(const Node& node, NodeId activationNode, const Activation& activation);
    bool addCodedBinary(const Node& node, NodeId activationNode, const Activation& activation);
    bool addCodedMap(const Node& node, NodeId activationNode, const Activation& activation);
    bool addCodedPool(const Node& node);
    /// (coded_moves.cpp)
    bool addCodedMove(const Node& node);
    /// A tensor whose values are a function of another tensor's codes.
    struct CodeFunction {
        TensorId source;            ///< coded
        std::vector<float> values;  ///< [code]
    };
    /// The tensor as a function of the codes that it is computed from, which may be those of another tensor.
    CodeFunction codeFunction(TensorId tensor) const;
    /// The value that each of the tensor's own codes stands for.
    std::vector<float> valuesOfCodes(TensorId tensor) const;
    void computeCodeFunction(TensorId tensor);
    void addCodedStep(std::shared_ptr<const Kernel> kernel, const Node& node, std::vector<int> inputs,
                      TensorId output, TensorDesc desc);
    /// The quantizer of a tensor that is stored as codes, or null.
    const FakeQuant* codedQuantizer(TensorId tensor) const;
    bool isCoded(TensorId tensor) const;
    int codedBufferIn(TensorId tensor, Layout layout);
    Compiled compileCached(const Operator& op, const NodeContext& context, const Activation& activation);
    /// The version of a kernel compiled from this node; empty without a cache.
    std::optional<Version> kernelVersion(const NodeContext& context, const Activation& activation,
                                         const std::vector<const FakeQuant*>& quantizers = {}) const;

    bool foldConstant(const NodeContext& context, const Compiled& compiled);
    std::optional<Fusion> fusionAt(NodeId id) const;
    /// The Relu or Clip after the node that can be fused into it.
    NodeId fusableActivation(const Node& node, Activation& activation) const;
    NodeContext contextOf(const Node& node);
    /// Empty: every input keeps its layout.
    std::optional<Layout> wantedLayout(const Operator& op, const Node& node) const;
    /// Returns the buffer of a tensor in a layout; adds a conversion if the tensor has another layout.
    int bufferIn(TensorId tensor, Layout layout);
    const Value& valueOf(TensorId tensor);
    void finish(TensorId tensor, int buffer, const TensorDesc& desc);
    int newBuffer(std::size_t bytes);
    void addStep(std::shared_ptr<const Kernel> kernel, std::vector<int> inputs, std::vector<int> outputs,
                 NodeId node);
    void settleObserved();
    void placeBuffers();
    bool observed(TensorId tensor) const;

    std::shared_ptr<Program> m_program;
    const Graph& m_graph;
    std::unordered_map<TensorId, ConstantPtr> m_constants;  ///< known values, given or folded
    std::unordered_map<TensorId, int> m_converted;          ///< channels-last or plain copies
    std::vector<TensorId> m_shapeOnly;                      ///< read by a Shape operator with known result
    std::set<TensorId> m_read;                              ///< inputs that the schedule needs
    std::unordered_map<TensorId, int> m_decoded;            ///< float copies of codes
    std::unordered_map<TensorId, CodeFunction>
        m_codeFunctions;                                 ///< computed when an operator needs the values
    std::unordered_map<TensorId, int> m_convertedCodes;  ///< codes in the other layout
    /// Partial program: the first unavailable node upstream.
    std::map<NodeId, NodeId> m_leftOutBecauseOf;
    std::vector<bool> m_done;  ///< nodes fused into another
};

}  // namespace quantloupe
