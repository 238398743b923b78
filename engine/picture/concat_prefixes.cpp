// SPDX-License-Identifier: Apache-2.0
#include "picture/concat_prefixes.h"

#include <algorithm>
#include <map>

namespace quantloupe {
namespace {

constexpr std::size_t kFewest = 2;  ///< shorter prefixes are not worth a separate edge

/// A trie of input lists: each list is a path from the root.
class Prefixes {
  public:
    struct Found {
        /// box of the Concat with the longest known list that `inputs` begin with
        std::size_t box = Group::kNone;
        std::size_t length = 0;
    };
    /// Looks up the list, then adds it.
    Found enter(const std::vector<TensorId>& inputs, std::size_t box) {
        Found found;
        std::size_t at = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto [next, fresh] = m_next.emplace(std::pair(at, inputs[i]), m_box.size());
            if (fresh) m_box.push_back(Group::kNone);
            at = next->second;
            // If the whole list is known, another Concat has the same inputs, and they are drawn as usual.
            if (m_box[at] != Group::kNone && i + 1 >= kFewest && i + 1 < inputs.size())
                found = {m_box[at], i + 1};
        }
        if (m_box[at] == Group::kNone) m_box[at] = box;
        return found;
    }

  private:
    std::map<std::pair<std::size_t, TensorId>, std::size_t> m_next;
    std::vector<std::size_t> m_box{Group::kNone};
};

}  // namespace

void carryConcatPrefixes(const Graph& graph, Picture& picture) {
    std::map<std::pair<std::size_t, TensorId>, std::size_t> edgeInto;  // of Concats, by box and tensor
    for (std::size_t e = 0; e < picture.edges.size(); ++e) {
        const PictureNode& node = picture.nodes[picture.edges[e].to];
        if (node.kind == PictureNode::Kind::Layer && graph.node(node.layer).op == "Concat")
            edgeInto.emplace(std::pair(picture.edges[e].to, picture.edges[e].tensor), e);
    }
    if (edgeInto.empty()) return;
    Prefixes prefixes;
    std::vector<PictureEdge> carrying;
    for (std::size_t box = 0; box < picture.nodes.size(); ++box) {
        const PictureNode& node = picture.nodes[box];
        if (node.kind != PictureNode::Kind::Layer || graph.node(node.layer).op != "Concat") continue;
        const std::vector<TensorId>& inputs = graph.node(node.layer).inputs;
        const Prefixes::Found earlier = prefixes.enter(inputs, box);
        if (earlier.box == Group::kNone) continue;
        const auto rest = inputs.begin() + static_cast<std::ptrdiff_t>(earlier.length);
        for (auto input = inputs.begin(); input != rest; ++input)
            if (const auto edge = edgeInto.find({box, *input});
                edge != edgeInto.end() && std::find(rest, inputs.end(), *input) == inputs.end())
                picture.edges[edge->second].hidden = true;
        // If the result of the earlier Concat is among the other inputs, there already is an edge from it.
        const bool drawn = std::ranges::any_of(
            graph.node(picture.nodes[earlier.box].layer).outputs,
            [&](TensorId output) { return std::find(rest, inputs.end(), output) != inputs.end(); });
        if (drawn) continue;
        PictureEdge edge;
        edge.from = earlier.box, edge.to = box;
        edge.tensor = graph.node(picture.nodes[earlier.box].layer).outputs.front();
        edge.carries = true;
        carrying.push_back(std::move(edge));
    }
    picture.edges.insert(picture.edges.end(), carrying.begin(), carrying.end());
}

}  // namespace quantloupe
