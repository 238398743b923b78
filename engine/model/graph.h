// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network as a value: nodes in topological order, tensors with their constants. A graph is immutable once
// built, so threads share it without locks. To change one, start a GraphBuilder from it.
//
// Constant nodes in the file become constants of their output tensors and are not nodes of the graph: every
// node is a *layer*.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/attributes.h"
#include "model/ids.h"

namespace quantloupe {

struct Node {
    std::string name;               ///< unique and not empty (repaired on loading)
    std::string op;                 ///< "Conv"
    std::string domain;             ///< "" for ai.onnx
    std::vector<TensorId> inputs;   ///< an omitted optional input is an invalid id
    std::vector<TensorId> outputs;  ///< likewise
    Attributes attributes;
    /// path(), if the file stores it separately from the name (module_paths.h); else empty.
    std::string modulePath = {};

    /// Where the node is in the network's code: scopes and operator between slashes, such as
    /// "/features/features.3/conv/Conv". Not necessarily unique. It is the name if nothing else is known.
    const std::string& path() const { return modulePath.empty() ? name : modulePath; }

    /// Input `i`, or an invalid id if it is omitted or out of range.
    TensorId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : TensorId(); }
    TensorId output(std::size_t i = 0) const { return i < outputs.size() ? outputs[i] : TensorId(); }
};

struct TensorInfo {
    std::string name;  ///< unique and not empty
    DataType type = DataType::Undefined;
    std::optional<Shape> shape;  ///< as far as known from the file or shape inference
    /// If an extent is not known: the shape for the sizes in assumed_sizes.h, as far as it can be inferred.
    std::optional<Dims> assumedDims;
    ConstantPtr constant;           ///< not null for initializers and Constant nodes
    NodeId producer;                ///< invalid for graph inputs and constants
    std::vector<NodeId> consumers;  ///< in node order, each node once
    bool graphInput = false;
    bool graphOutput = false;
    bool constantNode = false;  ///< the constant comes from a Constant node, not from an initializer
};

/// Properties of the file that are written back on saving.
struct ModelFacts {
    std::string graphName;
    std::string producer, producerVersion;  ///< "pytorch", "2.1"
    std::string domain;                     ///< of the model, in reverse-DNS style: "org.onnx"
    std::int64_t modelVersion = 0;
    std::string modelDescription, graphDescription;  ///< the doc strings
    std::int64_t irVersion = 8;
    std::map<std::string, std::int64_t> opsets;  ///< domain ("" = ai.onnx) to version
    std::map<std::string, std::string> metadata;
    /// Types of inputs and outputs that are not tensors, such as sequences: serialized TypeProtos, by name.
    std::map<std::string, std::string> otherTypes;
};

class Graph {
  public:
    std::span<const Node> nodes() const { return m_nodes; }
    const Node& node(NodeId id) const { return m_nodes[id.index()]; }
    std::size_t nodeCount() const { return m_nodes.size(); }

    std::span<const TensorInfo> tensors() const { return m_tensors; }
    /// For an omitted input (an invalid id), returns an entry without name, type, producer or consumers.
    const TensorInfo& tensor(TensorId id) const { return id.valid() ? m_tensors[id.index()] : s_omitted; }
    std::size_t tensorCount() const { return m_tensors.size(); }

    /// Graph inputs that are not constants, and graph outputs, in file order.
    std::span<const TensorId> inputs() const { return m_inputs; }
    std::span<const TensorId> outputs() const { return m_outputs; }

    std::optional<NodeId> findNode(std::string_view name) const;
    std::optional<TensorId> findTensor(std::string_view name) const;

    /// The value of a constant tensor, or null (also for an invalid id).
    const Constant* constantOf(TensorId id) const;
    /// The only node that reads the tensor; invalid if there are none or several, or if it is a graph output.
    NodeId onlyConsumer(TensorId id) const;

    const ModelFacts& facts() const { return m_facts; }
    std::int64_t opset() const;  ///< of ai.onnx
    /// Hash of the structure, attributes and constants.
    const Version& version() const { return m_version; }

  private:
    friend class GraphBuilder;
    static const TensorInfo s_omitted;
    std::vector<Node> m_nodes;
    std::vector<TensorInfo> m_tensors;
    std::vector<TensorId> m_inputs, m_outputs;
    std::unordered_map<std::string, NodeId> m_nodeByName;
    std::unordered_map<std::string, TensorId> m_tensorByName;
    ModelFacts m_facts;
    Version m_version;
};
using GraphPtr = std::shared_ptr<const Graph>;

}  // namespace quantloupe
