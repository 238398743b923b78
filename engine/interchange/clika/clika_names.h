// SPDX-License-Identifier: Apache-2.0
#pragma once
// CLIKA's settings of a layer, and its layer names: the type in lower case, with an index from the second
// layer of the type on ("conv", "conv_1", "linear_5"), in the order of the file.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// The settings of one layer (LayerQuantizationSettings).
struct ClikaLayer {
    std::optional<bool> skip;
    bool downstream = false;
    std::vector<std::string> until;
    std::optional<int> weightBits, activationBits;
};

class ClikaNames {
  public:
    explicit ClikaNames(const Graph& graph);
    const std::string& of(NodeId node) const { return m_names[node.index()]; }
    /// Finds a layer by its CLIKA name, or else by its ONNX name.
    std::optional<NodeId> find(const std::string& name) const;
    /// Returns ONNX and CLIKA names similar to a mistyped one.
    std::vector<std::string> near(const std::string& name) const;

  private:
    const Graph& m_graph;
    std::vector<std::string> m_names;
    std::map<std::string, NodeId> m_byName;
};

/// CLIKA's "parsing layers" list as a table: number, CLIKA name, operator and ONNX name of every node, in the
/// order of the file.
std::string clikaLayerTable(const Graph& graph);

}  // namespace quantloupe
