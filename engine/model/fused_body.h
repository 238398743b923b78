// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds the nodes that compute the same as a fused operator, as an ONNX function.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/changed_constants.h"
#include "model/known_shapes.h"

namespace quantloupe {

/// A fused operator, and the function that replaces it. Operands are names of tensors in the function.
class FusedBody {
  public:
    using Operand = std::string;
    using Value =
        std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;
    struct Attribute {
        const char* name;
        Value value;
    };

    /// `graphs` are that of the node and those around it, from the inside out.
    FusedBody(const onnx::NodeProto& node, std::vector<onnx::GraphProto*> graphs, const KnownShapes& shapes,
              std::int64_t opset);

    bool has(int input) const;
    bool wants(int output) const { return output < m_node.output_size() && !m_node.output(output).empty(); }
    Operand in(int input) const { return has(input) ? "in" + std::to_string(input) : ""; }
    std::optional<std::size_t> rank(int input) const;
    std::optional<std::int64_t> width(int input) const;
    std::optional<std::int64_t> first(int input) const;

    /// Sets the last dimension of an input of the model that the file leaves open, but that the node implies.
    void setWidth(int input, std::int64_t width);

    std::int64_t opset() const { return m_opset; }
    /// The constant that an input reads; null if it is computed. `reshaped`: also through a Reshape.
    const onnx::TensorProto* initializer(int input, bool reshaped = false) const;
    /// Lets the function read the constant of an input, directly and not through a Reshape, as rows × columns
    /// of this type.
    void retype(int input, int type, std::int64_t rows, std::int64_t columns,
                std::optional<std::string> bytes = {});
    const std::vector<ConstantChange>& changes() const { return m_changes; }
    const onnx::AttributeProto* attribute(const std::string& name) const;
    /// Marks attributes, or inputs, that do not change the supported results.
    void ignore(std::initializer_list<const char*> names) {
        m_readAttributes.insert(names.begin(), names.end());
    }
    void ignoreInputs(std::initializer_list<int> inputs) { m_readInputs.insert(inputs); }
    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    float real(const std::string& name, float otherwise) const;
    std::string text(const std::string& name) const;
    /// A number of heads. Throws Error if it is missing or impossible.
    std::int64_t heads(const std::string& name) const;

    /// Adds a node and returns its output.
    Operand add(const std::string& op, std::initializer_list<Operand> inputs,
                std::initializer_list<Attribute> attributes = {}, const std::string& domain = "");
    /// The node that was added last, for attributes that are copied.
    onnx::NodeProto& last() { return *m_function.mutable_node(m_function.node_size() - 1); }

    Operand number(float value);
    Operand numbers(std::vector<std::int64_t> values);
    Operand floats(std::vector<float> values);
    Operand integer(std::int64_t value);
    /// A matrix of integers with `bits` bits, in which every byte of the file is the same.
    Operand filled(int type, std::int64_t rows, std::int64_t columns, int byte, std::int64_t bits);
    Operand inFloat(const Operand& operand);
    Operand unsqueeze(const Operand& operand, std::int64_t axis);
    Operand slice(const Operand& operand, std::int64_t axis, std::int64_t from, std::int64_t to);
    /// 0, 1, ..., length - 1 with a length that is computed.
    Operand range(const Operand& from, const Operand& to);
    /// One extent of a tensor, as a scalar.
    Operand extent(const Operand& operand, std::int64_t axis);
    /// The sum along one axis, which is removed.
    Operand sum(const Operand& operand, std::int64_t axis);
    Operand lessThan(const Operand& left, const Operand& right) { return add("Less", {left, right}); }
    Operand clip(const Operand& operand, float low, float high);

    /// Makes the operand an output of the fused operator, if it is used.
    void setOutput(int output, const Operand& operand);

    /// Throws Error(Unsupported) if the function ignores an input, an attribute or a used output of the node,
    /// perhaps of a later version of the operator.
    onnx::FunctionProto finish(const std::string& domain, const std::string& name);

  private:
    Operand constant(std::initializer_list<Attribute> attributes, const std::string& key);
    /// The constant that an input reads, as a change without new values.
    std::optional<ConstantChange> find(int input, bool reshaped) const;

    const onnx::NodeProto& m_node;
    std::vector<onnx::GraphProto*> m_graphs;
    const KnownShapes& m_shapes;
    std::int64_t m_opset;
    std::vector<ConstantChange> m_changes;
    mutable std::set<std::string> m_readAttributes;
    mutable std::set<int> m_readInputs;
    onnx::FunctionProto m_function;
    std::map<std::string, int> m_counts;  ///< nodes of each kind, for their names
    std::map<std::string, Operand> m_constants;
    std::map<int, Operand> m_outputs;
};

/// Throws Error(Unsupported) if the condition is met.
void refuse(bool unsupported, const char* what);

}  // namespace quantloupe
