// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.h"
#include "picture/picture.h"
#include "picture/picture_text.h"

namespace quantloupe {
namespace {

PictureNode endBox(const Graph& graph, TensorId id, PictureNode::Kind kind, const Rect& box) {
    const TensorInfo& tensor = graph.tensor(id);
    return {kind, NodeId(), id, shortenLeft(cleanText(tensor.name), 22), shapeText(tensor), box};
}

}  // namespace

Picture describePicture(const Graph& graph, const LayoutOptions& options) {
    Picture picture;
    const Rect box{0, 0, options.nodeWidth, options.nodeHeight};
    const std::size_t firstLayer = graph.inputs().size();
    std::vector<std::size_t> inputBox(graph.tensorCount(), TensorId::kNone);
    picture.nodes.reserve(firstLayer + graph.nodeCount() + graph.outputs().size());
    for (const TensorId id : graph.inputs()) {
        inputBox[id.index()] = picture.nodes.size();
        picture.nodes.push_back(endBox(graph, id, PictureNode::Kind::Input, box));
    }
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        picture.nodes.push_back({PictureNode::Kind::Layer, NodeId(i), TensorId(), layerTitle(graph, node),
                                 layerSubtitle(node), box});
    }
    // Where a tensor comes from; nothing for constants.
    const auto addEdge = [&](TensorId id, std::size_t to) {
        if (!id.valid()) return;
        const TensorInfo& tensor = graph.tensor(id);
        if (tensor.producer.valid()) {
            picture.edges.push_back({firstLayer + tensor.producer.index(), to, id, {}});
        } else if (inputBox[id.index()] != TensorId::kNone) {
            picture.edges.push_back({inputBox[id.index()], to, id, {}});
        }
    };
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const std::vector<TensorId>& inputs = graph.node(NodeId(i)).inputs;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(k);
            if (std::find(inputs.begin(), here, inputs[k]) == here) addEdge(inputs[k], firstLayer + i);
        }
    }
    for (const TensorId id : graph.outputs()) {
        picture.nodes.push_back(endBox(graph, id, PictureNode::Kind::Output, box));
        addEdge(id, picture.nodes.size() - 1);
    }
    return picture;
}

std::size_t Picture::indexOf(NodeId layer) const {
    const auto first = std::find_if(nodes.begin(), nodes.end(), [](const PictureNode& node) {
        return node.kind == PictureNode::Kind::Layer;
    });
    const auto guess = static_cast<std::size_t>(first - nodes.begin()) + (layer.valid() ? layer.index() : 0);
    if (guess < nodes.size() && nodes[guess].layer == layer && layer.valid()) return guess;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].kind == PictureNode::Kind::Layer && nodes[i].layer == layer) return i;
    fail(ErrorKind::Internal, "the picture has no box for layer {}", layer.value);
}

}  // namespace quantloupe
