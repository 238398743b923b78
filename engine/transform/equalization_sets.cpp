// SPDX-License-Identifier: Apache-2.0
// Finds the sets of cross-layer equalization.
//
// Scaling output channel c of a layer by 1/s and input channel c of the next by s does not change the
// network's function if everything between is positively homogeneous, f(s x) = s f(x): nothing, Relu, PRelu.
// Identity and Dropout are ignored. Terms: a chain is a maximal run of convolutions linked in this way; a
// layer of it is C (one group), D (depthwise) or U (other groups). A chain is cut into sets as in AIMET
// ("Data-Free Quantization Through Weight Equalization and Bias Correction", Nagel et al. 2019): C-D-C is one
// triple, C-C and D-C are pairs. Unlike in AIMET, a tensor that is also a graph output ends a chain (its
// values would change), and a missing group attribute means 1. Cost: O(nodes). Limitation: Gemm and MatMul
// take no part; a lone C-D at the end is not used.
#include "transform/equalization_sets.h"

#include <fmt/ranges.h>

#include "transform/pass_through.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

enum class LayerClass { None, Common, Depthwise, Unsupported };

struct Link {
    NodeId next;
    bool activation = false;
};

LayerClass classOf(const Graph& graph, NodeId id, const std::vector<bool>& excluded) {
    if (!excluded.empty() && excluded[id.index()]) return LayerClass::None;
    const Node& node = graph.node(id);
    if (!isConvolution(node) || !isFloatConstant(graph, node.input(1))) return LayerClass::None;
    if (node.input(2).valid() && !isFloatConstant(graph, node.input(2))) return LayerClass::None;
    const auto layout = layoutOf(graph, id);
    if (!layout) return LayerClass::None;
    if (layout->depthwise) return LayerClass::Depthwise;
    return layout->groups == 1 ? LayerClass::Common : LayerClass::Unsupported;
}

/// A tensor that is also a graph output ends the chain; it is returned in `output`.
Link linkAfter(const Graph& graph, NodeId id, const std::vector<bool>& excluded, TensorId& output) {
    Link link;
    TensorId tensor = graph.node(id).output();
    while (tensor.valid() && graph.tensor(tensor).consumers.size() == 1) {
        if (graph.tensor(tensor).graphOutput) output = tensor;
        const NodeId reader = graph.tensor(tensor).consumers[0];
        const Node& node = graph.node(reader);
        if (!readsAsData(node, tensor)) break;
        if (classOf(graph, reader, excluded) != LayerClass::None) {
            link.next = reader;
            return link;
        }
        const bool activation = isOp(node, "Relu") || isOp(node, "PRelu");
        if (!activation && !isIdentity(graph, node)) break;
        link.activation = link.activation || activation;
        tensor = node.output();
    }
    output = {};
    return {};
}

bool channelsFit(const Graph& graph, const LayerSet& set) {
    for (const NodeId layer : set.layers) {
        const Constant* bias = graph.constantOf(graph.node(layer).input(2));
        if (bias != nullptr && bias->size() != layoutOf(graph, layer)->outputs()) return false;
    }
    for (std::size_t i = 1; i < set.layers.size(); ++i)
        if (layoutOf(graph, set.layers[i - 1])->outputs() != layoutOf(graph, set.layers[i])->inputs())
            return false;
    return true;
}

class SetFinder {
  public:
    SetFinder(const Graph& graph, std::vector<std::string>& notices, const std::vector<bool>& excluded)
        : m_graph(graph), m_notices(notices), m_excluded(excluded) {}

    std::vector<LayerSet> find() {
        std::vector<Link> links(m_graph.nodeCount());
        std::vector<bool> hasPrevious(m_graph.nodeCount(), false);
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (classOf(m_graph, NodeId(i), m_excluded) == LayerClass::None) continue;
            TensorId output;
            links[i] = linkAfter(m_graph, NodeId(i), m_excluded, output);
            if (output.valid()) {
                m_notices.push_back(
                    fmt::format("{} are not equalized: '{}' between them is a graph output (AIMET itself "
                                "scales it, which changes that output)",
                                namesOf(m_graph, {NodeId(i), links[i].next}), m_graph.tensor(output).name));
                links[i] = {};
            }
            if (links[i].next.valid()) hasPrevious[links[i].next.index()] = true;
        }
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (hasPrevious[i] || !links[i].next.valid()) continue;
            m_chain = {NodeId(i)};
            m_activation.clear();
            for (Link link = links[i]; link.next.valid(); link = links[link.next.index()]) {
                m_chain.push_back(link.next);
                m_activation.push_back(link.activation);
            }
            cut();
        }
        return std::move(m_sets);
    }

  private:
    LayerClass at(std::size_t i) const {
        return i < m_chain.size() ? classOf(m_graph, m_chain[i], m_excluded) : LayerClass::None;
    }

    /// Cuts the chain into sets, starting with `first` as the first layer of the next set.
    void cut() {
        std::size_t first = 0;
        while (first + 1 < m_chain.size()) {
            const LayerClass here = at(first), second = at(first + 1);
            if (here == LayerClass::Unsupported || second == LayerClass::Unsupported) {
                ++first;
            } else if (second == LayerClass::Common) {
                emit(first, 2);
                ++first;
            } else if (here == LayerClass::Common && at(first + 2) == LayerClass::Common) {
                emit(first, 3);
                first += 2;
            } else {
                ++first;
            }
        }
    }

    void emit(std::size_t first, std::size_t count) {
        LayerSet set;
        std::vector<std::string> names;
        for (std::size_t i = first; i < first + count; ++i) {
            set.layers.push_back(m_chain[i]);
            names.push_back(m_graph.node(m_chain[i]).name);
            if (i > first) set.activationBetween.push_back(m_activation[i - 1]);
        }
        for (const NodeId layer : set.layers) {
            const TensorId shared = sharedConstant(m_graph, layer);
            if (!shared.valid()) continue;
            m_notices.push_back(
                fmt::format("'{}' are not equalized: '{}' of '{}' is read by other layers, too",
                            fmt::join(names, "', '"), m_graph.tensor(shared).name, m_graph.node(layer).name));
            return;
        }
        if (!channelsFit(m_graph, set)) {
            m_notices.push_back(fmt::format("'{}' are not equalized: their numbers of channels do not match",
                                            fmt::join(names, "', '")));
            return;
        }
        m_sets.push_back(std::move(set));
    }

    const Graph& m_graph;
    std::vector<std::string>& m_notices;
    const std::vector<bool>& m_excluded;
    std::vector<NodeId> m_chain;
    std::vector<bool> m_activation;
    std::vector<LayerSet> m_sets;
};

}  // namespace

std::vector<LayerSet> findEqualizationSets(const Graph& graph, std::vector<std::string>& notices,
                                           const std::vector<bool>& excluded) {
    return SetFinder(graph, notices, excluded).find();
}

}  // namespace quantloupe
