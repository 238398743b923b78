// SPDX-License-Identifier: Apache-2.0
#include "picture/box_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "picture/picture_text.h"

namespace quantloupe {
namespace {

/// "A, B", or "12 × A" for many equal ones.
std::string listShapes(const std::vector<std::string>& shapes) {
    if (shapes.empty()) return "none";
    bool equal = shapes.size() > 2;
    for (const std::string& shape : shapes) equal = equal && shape == shapes.front();
    return equal ? fmt::format("{} × ({})", shapes.size(), shapes.front())
                 : fmt::format("{}", fmt::join(shapes, ", "));
}

std::string stateText(const LayerResult& layer) {
    std::string text(layerStateName(layer.state));
    if (!layer.host.empty())
        text += " into " + layer.host;
    else if (!layer.reason.empty())
        text += ": " + layer.reason;
    return cleanText(text);
}

void addDifference(std::string& text, const char* word, const std::optional<TensorDifference>& difference) {
    if (!difference) return;
    text += fmt::format("\n{}: QS {}, cosine {}, SQNR {} dB", word, scoreText(difference->qs),
                        scoreText(difference->cosine), scoreText(difference->sqnrDb));
}

BoxText layerText(const Graph& graph, const PictureNode& box, const LayerResult* layer) {
    const Node& node = graph.node(box.layer);
    BoxText text;
    text.title = box.title;
    text.name = cleanText(node.name);
    text.shapes = listShapes(inputShapes(graph, node)) + " → " + listShapes(outputShapes(graph, node));
    text.attributes = fmt::format("{}", fmt::join(attributeTexts(node), " · "));
    text.tooltip = fmt::format("{}\n{}\n{}", text.name, cleanText(node.op), text.shapes);
    for (const auto& [name, value] : attributeList(node))
        text.tooltip += fmt::format("\n{}: {}", name, value);
    if (layer == nullptr) return text;
    text.state = stateText(*layer);
    if (layer->local)
        text.score = "QS " + scoreText(layer->local->qs);
    else if (layer->cumulative)
        text.score = "QS " + scoreText(layer->cumulative->qs);
    text.tooltip += "\n" + std::string(layerStateName(layer->state));
    if (!layer->host.empty()) text.tooltip += " into " + cleanText(layer->host);
    if (!layer->reason.empty()) text.tooltip += ": " + cleanText(layer->reason);
    const bool asIf = layer->state == LayerState::Skipped;
    addDifference(text.tooltip, asIf ? "local, as if quantized" : "local", layer->local);
    addDifference(text.tooltip, "cumulative", layer->cumulative);
    return text;
}

}  // namespace

std::string scoreText(double value) { return fmt::format("{:.4g}", value); }

BoxText boxText(const Graph& graph, const PictureNode& node, const LayerResult* layer) {
    if (node.kind == PictureNode::Kind::Layer) return layerText(graph, node, layer);
    const TensorInfo& tensor = graph.tensor(node.tensor);
    BoxText text;
    text.title = cleanText(tensor.name);
    text.name = node.kind == PictureNode::Kind::Input ? "graph input" : "graph output";
    text.shapes = shapeText(tensor);
    text.attributes = dataTypeName(tensor.type);
    text.tooltip = fmt::format("{}\n{}\n{} {}", text.title, text.name, text.attributes, text.shapes);
    return text;
}

std::vector<const LayerResult*> resultsByNode(const Graph& graph, const std::vector<LayerResult>& layers) {
    std::vector<const LayerResult*> results(graph.nodeCount(), nullptr);
    for (const LayerResult& layer : layers)
        if (layer.node.valid() && layer.node.index() < results.size()) results[layer.node.index()] = &layer;
    return results;
}

}  // namespace quantloupe
