// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "base/error.h"
#include "model/layer_names.h"
#include "picture/concat_prefixes.h"
#include "picture/picture.h"
#include "picture/picture_text.h"
#include "picture/references.h"
#include "picture/stacks.h"

namespace quantloupe {
namespace {

PictureNode endBox(const Graph& graph, TensorId id, PictureNode::Kind kind, const Rect& box) {
    const TensorInfo& tensor = graph.tensor(id);
    PictureNode node;
    node.kind = kind;
    node.tensor = id;
    node.title = shortenLeft(cleanText(tensor.name), 22);
    node.subtitle = shapeText(tensor);
    node.box = box;
    return node;
}

PictureNode groupBox(const std::vector<Group>& groups, std::size_t index, const Rect& box) {
    const Group& group = groups[index];
    PictureNode node;
    node.kind = PictureNode::Kind::Group;
    node.layer = group.nodes.front();
    node.group = index;
    node.title = groupTitle(group);
    node.subtitle = group.alike > 1 ? fmt::format("{} layers · {} alike", group.nodes.size(), group.alike)
                                    : fmt::format("{} layers", group.nodes.size());
    node.box = box;
    return node;
}

/// The boxes of the drawing: layers that are not part of a collapsed group, and the collapsed groups, in
/// topological order. Node i of the graph belongs to unit[i].
struct Units {
    std::vector<std::size_t> unit;
    std::vector<std::size_t> first;  ///< the first layer of each unit
};

Units mergeGroups(const Graph& graph, const std::vector<std::size_t>& groupOf) {
    const std::size_t count = graph.nodeCount();
    std::vector<std::size_t> leader(count);  // the first layer of the group
    std::map<std::size_t, std::size_t> leaders;
    for (std::size_t n = 0; n < count; ++n)
        leader[n] = groupOf[n] == Group::kNone ? n : leaders.emplace(groupOf[n], n).first->second;
    std::vector<std::set<std::size_t>> out(count);
    std::vector<std::size_t> waiting(count, 0);
    for (const TensorInfo& tensor : graph.tensors()) {
        if (!tensor.producer.valid()) continue;
        const std::size_t from = leader[tensor.producer.index()];
        for (const NodeId reader : tensor.consumers) {
            const std::size_t to = leader[reader.index()];
            if (from != to && out[from].insert(to).second) ++waiting[to];
        }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t n = 0; n < count; ++n)
        if (leader[n] == n && waiting[n] == 0) ready.push(n);
    Units units;
    std::vector<std::size_t> place(count, 0);
    while (!ready.empty()) {
        const std::size_t n = ready.top();
        ready.pop();
        place[n] = units.first.size();
        units.first.push_back(n);
        for (const std::size_t to : out[n])
            if (--waiting[to] == 0) ready.push(to);
    }
    for (std::size_t n = 0; n < count; ++n) units.unit.push_back(place[leader[n]]);
    return units;
}

}  // namespace

std::string groupTitle(const Group& group) {
    if (group.shape) return "Shape arithmetic";
    const std::size_t slash = group.name.rfind('/');
    return cleanText(slash == std::string::npos || slash + 1 == group.name.size()
                         ? group.name
                         : group.name.substr(slash + 1));
}

Picture describePicture(const Graph& graph, const LayoutOptions& options) {
    Picture picture;
    picture.groups = findGroups(graph);
    const std::vector<std::size_t> groupOf =
        collapsedGroups(graph, picture.groups,
                        collapsedNames(picture.groups, options.collapsed, options.tidy, options.opened));
    const bool merged = std::ranges::any_of(groupOf, [](std::size_t group) { return group != Group::kNone; });
    const Rect box{0, 0, options.nodeWidth, options.nodeHeight};
    const std::size_t firstLayer = graph.inputs().size();
    std::vector<std::size_t> inputBox(graph.tensorCount(), TensorId::kNone);
    picture.nodes.reserve(firstLayer + graph.nodeCount() + graph.outputs().size());
    for (const TensorId id : graph.inputs()) {
        inputBox[id.index()] = picture.nodes.size();
        picture.nodes.push_back(endBox(graph, id, PictureNode::Kind::Input, box));
    }
    Units units;
    if (merged) {
        units = mergeGroups(graph, groupOf);
    } else {
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) units.unit.push_back(i), units.first.push_back(i);
    }
    const std::vector<std::string> names = displayNames(graph);
    const std::vector<NodeId> hosts =
        options.compact ? findStacks(graph, groupOf) : std::vector<NodeId>(graph.nodeCount());
    for (const std::size_t i : units.first) {
        if (groupOf[i] != Group::kNone) {
            picture.nodes.push_back(groupBox(picture.groups, groupOf[i], box));
            continue;
        }
        const Node& node = graph.node(NodeId(i));
        PictureNode layer;
        layer.layer = NodeId(i);
        layer.title = layerTitle(graph, node);
        layer.subtitle = cleanText(names[i]);
        layer.box = box;
        if (hosts[i].valid()) {
            layer.host = firstLayer + units.unit[hosts[i].index()];
            layer.box.height = options.rowHeight;
            picture.nodes[layer.host].rowsHeight += options.rowHeight;
        }
        picture.nodes.push_back(std::move(layer));
    }
    // Adds an edge from the box that produces the tensor; constants have none.
    std::set<std::pair<TensorId, std::size_t>> drawn;  // several layers of a group may read the same tensor
    const auto addEdge = [&](TensorId id, std::size_t to) {
        if (!id.valid()) return;
        const TensorInfo& tensor = graph.tensor(id);
        std::size_t from = inputBox[id.index()];
        if (tensor.producer.valid()) from = firstLayer + units.unit[tensor.producer.index()];
        if (from == TensorId::kNone || from == to) return;
        if (merged && !drawn.emplace(id, to).second) return;
        PictureEdge edge;
        edge.from = from, edge.to = to;
        edge.tensor = id;
        edge.inside = picture.nodes[to].isRow();
        picture.edges.push_back(std::move(edge));
    };
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const std::vector<TensorId>& inputs = graph.node(NodeId(i)).inputs;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(k);
            if (std::find(inputs.begin(), here, inputs[k]) == here)
                addEdge(inputs[k], firstLayer + units.unit[i]);
        }
    }
    for (const TensorId id : graph.outputs()) {
        picture.nodes.push_back(endBox(graph, id, PictureNode::Kind::Output, box));
        addEdge(id, picture.nodes.size() - 1);
    }
    if (options.tidy) {
        carryConcatPrefixes(graph, picture);
        markReferences(picture);
    }
    return picture;
}

std::size_t Picture::indexOf(NodeId layer) const {
    const auto first = std::find_if(nodes.begin(), nodes.end(), [](const PictureNode& node) {
        return node.kind == PictureNode::Kind::Layer || node.kind == PictureNode::Kind::Group;
    });
    const auto guess = static_cast<std::size_t>(first - nodes.begin()) + (layer.valid() ? layer.index() : 0);
    if (guess < nodes.size() && nodes[guess].layer == layer && layer.valid()) return guess;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == PictureNode::Kind::Layer && nodes[i].layer == layer) return i;
        if (nodes[i].kind == PictureNode::Kind::Group &&
            std::ranges::count(groups[nodes[i].group].nodes, layer) > 0)
            return i;
    }
    fail(ErrorKind::Internal, "the picture has no box for layer {}", layer.value);
}

}  // namespace quantloupe
