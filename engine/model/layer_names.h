// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short names of layers for people. Exporters write names like
// "/features/features.2/conv/conv.1/conv.1.0/Conv": too long for a list, and lists that cut them off show
// many equal rows.

#include <string>
#include <string_view>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Returns the parts of a name between slashes, without those that the next part repeats: exporters write
/// "conv/conv.0/conv.0.0". Returns the whole name as one part if it has more than 64 parts or 1,000
/// characters.
std::vector<std::string_view> nameParts(std::string_view name);

/// Returns the path of the module that contains the node: "features.3.conv"; empty if there is none.
std::string moduleOf(const Node& node);
/// Returns the path of the module with this scope: "features.3" for "/features/features.3".
std::string moduleOfScope(std::string_view scope);

/// Returns whether the part of a name only repeats the operator: "Conv", "Conv_3".
bool repeatsOperator(std::string_view part, std::string_view op);

/// Returns for each node of the graph its display name: "features.2/conv.1.0" for the name above. The block
/// and the part that distinguishes the layer stay. Parts that the next part repeats ("conv" before "conv.1"),
/// parts that all layers share, an operator that is the only one of its module, and parts in the middle that
/// are not needed to distinguish layers are left out. The names are unique if those of the nodes are. Names
/// without slashes, or with more than 64 parts or 1,000 characters, stay as they are. O(total length ×
/// parts).
std::vector<std::string> displayNames(const Graph& graph);

/// The display names of a graph, with lookups. Immutable; may be shared by threads.
class LayerNames {
  public:
    LayerNames() = default;
    explicit LayerNames(GraphPtr graph);

    const std::string& of(NodeId node) const { return m_display[node.index()]; }
    /// The display name of the layer with this full name; the text itself if the graph has no such layer.
    std::string of(std::string_view fullName) const;
    /// Replaces the full names of layers in a message by their display names.
    std::string inText(std::string_view message) const;
    /// Whether the text occurs in the display name or in the full name. Case is ignored, slashes and dots are
    /// equal, "…" stands for any characters, and the path of a PyTorch module ("features.2.conv.1.0") counts
    /// as a name of its layers.
    bool matches(NodeId node, std::string_view text) const;

  private:
    GraphPtr m_graph;
    std::vector<std::string> m_display;
    std::vector<std::string> m_searched;  ///< display name, module, path and name in lines, normalized
};

}  // namespace quantloupe
