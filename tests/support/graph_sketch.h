// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds graphs too large to write as text.

#include "model/graph_builder.h"

namespace quantloupe::test {

/// A graph of layers without weights, with the input "x" and more if needed. Each tensor is named after its
/// producer.
class GraphSketch {
  public:
    GraphSketch() { input("x"); }
    void input(const std::string& name) {
        m_builder.addInput(m_builder.tensor(name), DataType::Float32, std::nullopt);
    }
    /// Adds a layer and returns its name, for example "Conv_3".
    std::string add(const std::string& op, const std::vector<std::string>& inputs) {
        return addNamed(op + "_" + std::to_string(m_builder.nodeCount()), op, inputs);
    }
    std::string addNamed(const std::string& name, const std::string& op,
                         const std::vector<std::string>& inputs) {
        Node node;
        node.name = name;
        node.op = op;
        for (const std::string& input : inputs) node.inputs.push_back(m_builder.tensor(input));
        node.outputs.push_back(m_builder.tensor(name));
        m_builder.addNode(std::move(node));
        return name;
    }
    GraphPtr build(const std::vector<std::string>& outputs) {
        for (const std::string& name : outputs) m_builder.addOutput(m_builder.tensor(name));
        return m_builder.build();
    }
    std::size_t size() const { return m_builder.nodeCount(); }

  private:
    GraphBuilder m_builder;
};

}  // namespace quantloupe::test
