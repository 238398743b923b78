// SPDX-License-Identifier: Apache-2.0
// The pattern finder of Quark's profile.
//
// Terms: head and tail are the layers before and after a junction. A pair is Conv or Gemm, any Relu,
// LeakyRelu, Pad and ReduceMean, Conv or Gemm, where a Conv has one group or is depthwise; a triple is Conv,
// depthwise Conv, Conv with nothing but Relu between. Pairs and triples over the same layers are both
// applied: for each head in graph order its pair, then its triple. Source: Quark 0.11.2, determined by
// measurement (docs/equalization.md). Cost: O(nodes). Unlike Quark, this does not equalize over a tensor that
// is also a graph output, over weights that two layers share (Quark fails), or over a Pad or ReduceMean that
// mixes channels; and it includes a Conv without a group attribute (which means 1).
#include "transform/quark_patterns.h"

#include <fmt/format.h>

#include "transform/pass_through.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

class PatternFinder {
  public:
    PatternFinder(const Graph& graph, const std::vector<bool>& excluded, std::vector<std::string>& notices)
        : m_graph(graph), m_excluded(excluded), m_notices(notices) {}

    std::vector<LayerSet> find() {
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeId head(i);
            if (!isLayer(head)) continue;
            const Link link = follow(head, false);
            if (link.next.valid()) emit({{head, link.next}, {link.activation}});
            triple(head);
        }
        return std::move(m_patterns);
    }

  private:
    struct Link {
        NodeId next;
        bool activation = false;
    };

    bool isLayer(NodeId id) const {
        const Node& node = m_graph.node(id);
        if (!isOp(node, "Conv") && !isOp(node, "Gemm")) return false;
        if (!m_excluded.empty() && m_excluded[id.index()]) return false;
        if (!isFloatConstant(m_graph, node.input(1))) return false;
        if (node.input(2).valid() && !isFloatConstant(m_graph, node.input(2))) return false;
        const auto layout = layoutOf(m_graph, id);
        return layout && (layout->groups == 1 || layout->depthwise) &&
               node.attributes.integer("transA", 0) == 0;
    }

    bool isDepthwise(NodeId id) const { return layoutOf(m_graph, id)->depthwise; }
    bool isFlat(NodeId id) const { return layoutOf(m_graph, id)->dims.size() == 4; }

    bool passes(const Node& node, bool reluOnly) const {
        if (isOp(node, "Relu") || isIdentity(m_graph, node))
            return true;  // Quark's simplifier removes Identity and Dropout beforehand
        if (reluOnly) return false;
        return (isOp(node, "LeakyRelu") || isOp(node, "Pad") || isOp(node, "ReduceMean")) &&
               whyScaleStops(m_graph, node).empty();
    }

    Link follow(NodeId head, bool reluOnly) {
        Link link;
        TensorId tensor = m_graph.node(head).output();
        TensorId output;  // a tensor on the way that is also a graph output
        while (tensor.valid()) {
            const TensorInfo& info = m_graph.tensor(tensor);
            if (info.graphOutput) output = tensor;
            if (info.consumers.size() != 1) return {};
            const NodeId reader = info.consumers[0];
            const Node& node = m_graph.node(reader);
            if (!readsAsData(node, tensor)) return {};
            if (isLayer(reader)) {
                if (output.valid()) {
                    if (!reluOnly) refuseOutput({head, reader}, output);
                    return {};
                }
                link.next = reader;
                return link;
            }
            if (!passes(node, reluOnly)) return {};
            link.activation = link.activation || isOp(node, "Relu") || isOp(node, "LeakyRelu");
            tensor = node.output();
        }
        return {};
    }

    void triple(NodeId head) {
        if (!isOp(m_graph.node(head), "Conv") || isDepthwise(head)) return;
        const Link first = follow(head, true);
        if (!first.next.valid() || !isDepthwise(first.next)) return;
        const Link second = follow(first.next, true);
        if (!second.next.valid() || !isOp(m_graph.node(second.next), "Conv") || isDepthwise(second.next))
            return;
        if (!isFlat(head) || !isFlat(first.next) || !isFlat(second.next)) return;
        emit({{head, first.next, second.next}, {first.activation, second.activation}});
    }

    void refuseOutput(const std::vector<NodeId>& layers, TensorId output) {
        m_notices.push_back(
            fmt::format("{} are not equalized: '{}' between them is a graph output (Quark itself scales it, "
                        "which changes that output)",
                        namesOf(m_graph, layers), m_graph.tensor(output).name));
    }

    bool fits(const LayerSet& set) {
        for (const NodeId layer : set.layers) {
            const TensorId shared = sharedConstant(m_graph, layer);
            if (!shared.valid()) continue;
            m_notices.push_back(fmt::format(
                "{} are not equalized: '{}' of '{}' is read by other layers, too (Quark itself fails here)",
                namesOf(m_graph, set.layers), m_graph.tensor(shared).name, m_graph.node(layer).name));
            return false;
        }
        for (std::size_t i = 0; i < set.layers.size(); ++i) {
            const auto layout = layoutOf(m_graph, set.layers[i]);
            const Constant* bias = m_graph.constantOf(m_graph.node(set.layers[i]).input(2));
            // The last layer's bias is not scaled, so it may have any shape.
            const bool biasFits = i + 1 == set.layers.size() || bias == nullptr ||
                                  isPerChannel(*bias, static_cast<std::size_t>(layout->outputs()));
            const bool channelsFit =
                i == 0 || layoutOf(m_graph, set.layers[i - 1])->outputs() == layout->inputs();
            if (biasFits && channelsFit) continue;
            m_notices.push_back(fmt::format("{} are not equalized: their numbers of channels do not match",
                                            namesOf(m_graph, set.layers)));
            return false;
        }
        return true;
    }

    void emit(LayerSet set) {
        if (fits(set)) m_patterns.push_back(std::move(set));
    }

    const Graph& m_graph;
    const std::vector<bool>& m_excluded;
    std::vector<std::string>& m_notices;
    std::vector<LayerSet> m_patterns;
};

}  // namespace

std::vector<LayerSet> findQuarkPatterns(const Graph& graph, const std::vector<bool>& excluded,
                                        std::vector<std::string>& notices) {
    return PatternFinder(graph, excluded, notices).find();
}

}  // namespace quantloupe
