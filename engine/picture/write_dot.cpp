// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "picture/box_text.h"
#include "picture/picture_text.h"

namespace quantloupe {
namespace {

/// For use within a quoted label: no quote ends it, no backslash or entity is taken for an escape.
std::string escapedLabel(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '&':
                out += "&amp;";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                break;
            default:
                out += c;
        }
    }
    return out;
}

class Label {
  public:
    void line(std::string_view text) { m_text += escapedLabel(text) + "\\l"; }
    void line(std::string_view word, std::string_view text) { line(fmt::format("{}: {}", word, text)); }
    const std::string& text() const { return m_text; }

  private:
    std::string m_text;
};

Label layerLabel(const Graph& graph, const Node& node, const LayerResult* layer) {
    Label label;
    label.line(cleanText(node.name));
    label.line("Type", cleanText(node.op));
    label.line("Input", fmt::format("{}", fmt::join(inputShapes(graph, node), ", ")));
    label.line("Output", fmt::format("{}", fmt::join(outputShapes(graph, node), ", ")));
    for (const auto& [name, value] : attributeList(node)) label.line(name, value);
    if (layer == nullptr) return label;
    if (layer->local) label.line("QS", scoreText(layer->local->qs));
    if (layer->cumulative) label.line("QS cumulative", scoreText(layer->cumulative->qs));
    label.line("State", layerStateName(layer->state));
    if (!layer->host.empty()) label.line("Into", cleanText(layer->host));
    if (!layer->reason.empty()) label.line("Reason", cleanText(layer->reason));
    return label;
}

}  // namespace

std::string pictureToDot(const Graph& graph, const std::vector<LayerResult>& layers) {
    const Picture picture = describePicture(graph);
    const std::vector<const LayerResult*> results = resultsByNode(graph, layers);
    const std::vector<StateColors> colors = layerColors(layers);
    std::string dot = "digraph model {\n    rankdir=TB;\n    node [fontname=\"sans-serif\", fontsize=10];\n";
    dot += "    edge [color=\"#5b6573\", arrowsize=0.7];\n";
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        const PictureNode& box = picture.nodes[i];
        StateColors color = graphEndColors();
        Label label;
        if (box.kind == PictureNode::Kind::Layer) {
            const LayerResult* layer = results[box.layer.index()];
            label = layerLabel(graph, graph.node(box.layer), layer);
            color = layer != nullptr ? colors[static_cast<std::size_t>(layer - layers.data())]
                                     : StateColors{"#8a94a3", "#f1f3f6"};
        } else {
            const TensorInfo& tensor = graph.tensor(box.tensor);
            label.line(cleanText(tensor.name));
            label.line("Type", box.kind == PictureNode::Kind::Input ? "graph input" : "graph output");
            label.line("Shape", shapeText(tensor));
            label.line("Elements", dataTypeName(tensor.type));
        }
        dot +=
            fmt::format("    n{} [label=\"{}\", shape=box, style=filled, color=\"{}\", fillcolor=\"{}\"];\n",
                        i, label.text(), color.outline, color.fill);
    }
    for (const PictureEdge& edge : picture.edges) dot += fmt::format("    n{} -> n{};\n", edge.from, edge.to);
    return dot + "}\n";
}

}  // namespace quantloupe
