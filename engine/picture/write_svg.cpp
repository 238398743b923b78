// SPDX-License-Identifier: Apache-2.0
// Uses only elements that every viewer draws identically: rectangles, paths, texts. Arrow heads are paths,
// not markers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "picture/box_text.h"
#include "picture/picture_text.h"
#include "picture/text_width.h"

namespace quantloupe {
namespace {

constexpr double kTitleSize = 12;
constexpr double kTextSize = 9;
constexpr double kSmallestText = 7;
constexpr double kTitleLine = 16;
constexpr double kTextLine = 13;
constexpr double kPadding = 8;  ///< above and below the text
constexpr double kLeft = 14;    ///< of the text, next to the colored bar
constexpr double kRight = 10;
constexpr double kArrow = 6;
constexpr double kLegendWidth = 330, kLegendHeight = 26;
constexpr StateColors kUnknown{"#8a94a3", "#f1f3f6"};

/// A coordinate: two decimals, without the zeros at the end.
std::string num(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

struct Line {
    std::string text;
    const char* color;
    bool fromLeft;
};

std::vector<Line> detailLines(const BoxText& text) {
    std::vector<Line> lines{{text.name, "#3d4654", true}};
    if (!text.shapes.empty()) lines.push_back({text.shapes, "#5b6573", false});
    if (!text.attributes.empty()) lines.push_back({text.attributes, "#5b6573", false});
    if (!text.state.empty()) lines.push_back({text.state, "#3d4654", false});
    return lines;
}

void drawText(std::string& svg, double x, double y, double size, const char* rest, std::string_view text) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}>{}</text>\n", num(x), num(y), num(size),
                       rest, escapedXml(text));
}

void drawBox(std::string& svg, const PictureNode& node, const BoxText& text, const StateColors& color) {
    const Rect& box = node.box;
    svg += fmt::format("<g class=\"node\"><title>{}</title>\n", escapedXml(text.tooltip));
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"1.4\"/>\n",
        num(box.x), num(box.y), num(box.width), num(box.height), color.fill, color.outline);
    svg += fmt::format("<path d=\"M{0},{1}h-1a4,4 0 0 0 -4,4v{2}a4,4 0 0 0 4,4h1z\" fill=\"{3}\"/>\n",
                       num(box.x + 5.5), num(box.y + 0.5), num(box.height - 9), color.outline);

    std::vector<Line> lines = detailLines(text);
    const auto room =
        static_cast<std::size_t>(std::max(0.0, (box.height - kPadding - kTitleLine) / kTextLine));
    // Boxes without space for all lines show the display name instead of the full name.
    if (lines.size() > room && node.kind == PictureNode::Kind::Layer) lines.front().text = node.subtitle;
    if (lines.size() > room && node.kind != PictureNode::Kind::Layer) lines.erase(lines.begin());
    lines.resize(std::min(lines.size(), room), {"", "", false});

    const double width = box.width - kLeft - kRight;
    double y = box.y + (box.height - kTitleLine - kTextLine * static_cast<double>(lines.size())) / 2;
    const double scoreWidth = text.score.empty() ? 0 : textWidth(text.score, 10) + 8;
    drawText(svg, box.x + kLeft, y + 12, kTitleSize, " font-weight=\"600\" fill=\"#1b2430\"",
             fitText(text.title, (width - scoreWidth) / 1.12, kTitleSize, false));
    if (!text.score.empty())
        drawText(svg, box.right() - kRight, y + 12, 10, " text-anchor=\"end\" fill=\"#1b2430\"", text.score);
    y += kTitleLine;
    for (const Line& line : lines) {
        const double needed = textWidth(line.text, kTextSize);
        const double size = needed > width ? std::max(kSmallestText, kTextSize * width / needed) : kTextSize;
        drawText(svg, box.x + kLeft, y + 9.5, size, fmt::format(" fill=\"{}\"", line.color).c_str(),
                 fitText(line.text, width, size, line.fromLeft));
        y += kTextLine;
    }
    svg += "</g>\n";
}

/// Draws one line below the box of its layer: type and name, and at the right the state.
void drawRow(std::string& svg, const PictureNode& node, const BoxText& text, const StateColors& color) {
    const Rect& box = node.box;
    svg += fmt::format("<g class=\"node row\"><title>{}</title>\n", escapedXml(text.tooltip));
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1\"/>\n",
        num(box.x), num(box.y), num(box.width), num(box.height), color.fill, color.outline);
    const double width = box.width - kLeft - kRight, baseline = box.y + box.height / 2 + kTextSize * 0.36;
    const std::string right = text.score.empty() ? text.state : text.score;
    const std::string shown = fitText(right, width * 0.55, kTextSize, false);
    if (!shown.empty())
        drawText(svg, box.right() - kRight, baseline, kTextSize, " text-anchor=\"end\" fill=\"#3d4654\"",
                 shown);
    drawText(svg, box.x + kLeft, baseline, kTextSize, " fill=\"#1b2430\"",
             fitText(text.title, width - textWidth(shown, kTextSize) - 8, kTextSize, false));
    svg += "</g>\n";
}

/// A polyline with slightly rounded corners, and its arrow head.
void drawEdge(std::string& svg, const PictureEdge& edge) {
    if (edge.points.size() < 2) return;
    std::vector<Point> points = edge.points;
    const Point tip = points.back();
    const Point& before = points[points.size() - 2];
    const double length = std::max(1e-9, std::hypot(tip.x - before.x, tip.y - before.y));
    const Point along{(tip.x - before.x) / length, (tip.y - before.y) / length};
    points.back() = {tip.x - along.x * std::min(kArrow - 1, length / 2),
                     tip.y - along.y * std::min(kArrow - 1, length / 2)};

    std::string path = fmt::format("M{},{}", num(points[0].x), num(points[0].y));
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const Point &a = points[i - 1], &b = points[i], &c = points[i + 1];
        const double in = std::hypot(b.x - a.x, b.y - a.y), out = std::hypot(c.x - b.x, c.y - b.y);
        const double radius = std::min({6.0, in / 2, out / 2});
        const double s = in > 0 ? radius / in : 0, t = out > 0 ? radius / out : 0;
        path += fmt::format("L{},{}Q{},{} {},{}", num(b.x + (a.x - b.x) * s), num(b.y + (a.y - b.y) * s),
                            num(b.x), num(b.y), num(b.x + (c.x - b.x) * t), num(b.y + (c.y - b.y) * t));
    }
    path += fmt::format("L{},{}", num(points.back().x), num(points.back().y));
    svg += fmt::format("<path class=\"edge\" d=\"{}\"/>\n", path);
    const Point base{tip.x - along.x * kArrow, tip.y - along.y * kArrow};
    const double half = kArrow * 0.45;
    svg += fmt::format("<path class=\"arrow\" d=\"M{},{}L{},{}L{},{}z\" fill=\"#8b95a5\" stroke=\"none\"/>\n",
                       num(tip.x), num(tip.y), num(base.x - along.y * half), num(base.y + along.x * half),
                       num(base.x + along.y * half), num(base.y - along.x * half));
}

/// Draws the color legend as a row below the graph.
void drawLegend(std::string& svg, double top, LayerPaint paint) {
    const auto colorsOf = [](LayerState state) {
        LayerResult layer;
        layer.state = state;
        return stateColors(layer);
    };
    std::vector<std::pair<const char*, StateColors>> entries = {
        {"input, output", graphEndColors()},
        {"quantized", colorsOf(LayerState::Quantized)},
        {"not quantized", colorsOf(LayerState::Skipped)},
        {"folded, fused", colorsOf(LayerState::Folded)}};
    if (paint == LayerPaint::Sensitivity) {
        entries.pop_back();
        for (const auto& [text, qs] : {std::pair{"QS 0.01", 0.01}, {"0.1", 0.1}, {"0.5", 0.5}})
            entries.push_back({text, {kUnknown.outline, sensitivityFill(qs)}});
    }
    double x = kLeft;
    svg += "<g class=\"legend\">\n";
    for (const auto& [text, color] : entries) {
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"9\" rx=\"2\" fill=\"{}\" stroke=\"{}\"/>\n",
            num(x), num(top + 9), color.fill, color.outline);
        drawText(svg, x + 19, top + 16.5, kTextSize, " fill=\"#3d4654\"", text);
        x += 19 + textWidth(text, kTextSize) + 14;
    }
    svg += "</g>\n";
}

struct GroupSummary {
    const LayerResult* lead = nullptr;  ///< determines the color of the box; a skipped layer if there is one
    std::size_t quantized = 0, inFloat = 0;
};

GroupSummary summarize(const Group& group, const std::vector<const LayerResult*>& results) {
    GroupSummary summary;
    for (const NodeId node : group.nodes) {
        const LayerResult* layer = results[node.index()];
        if (layer == nullptr) continue;
        summary.quantized += layer->state == LayerState::Quantized;
        summary.inFloat += layer->state == LayerState::Skipped;
        const auto rank = [](const LayerResult* l) {
            return l == nullptr                        ? 0
                   : l->state == LayerState::Skipped   ? 3
                   : l->state == LayerState::Quantized ? 2
                                                       : 1;
        };
        if (rank(layer) > rank(summary.lead)) summary.lead = layer;
    }
    return summary;
}

BoxText groupText(const Picture& picture, const PictureNode& node, const GroupSummary& summary) {
    const Group& group = picture.groups[node.group];
    BoxText text;
    text.title = node.title;
    text.name = cleanText(group.name);
    text.shapes = node.subtitle;
    if (summary.lead != nullptr)
        text.state = fmt::format("{} quantized, {} skipped", summary.quantized, summary.inFloat);
    text.tooltip = fmt::format("{}\n{}\n{}", text.name, text.shapes, text.state);
    return text;
}

}  // namespace

LayoutOptions detailedBoxes(const Graph& graph) {
    double width = 200;
    std::size_t lines = 3;
    const auto grow = [&](const BoxText& text, double size) {
        for (const Line& line : detailLines(text)) width = std::max(width, textWidth(line.text, size));
        width = std::max(width, textWidth(text.title, kTitleSize, true) + textWidth("QS 0.1234", 10) + 8);
        // The state, which is not part of the graph, has its own line.
        lines = std::max(lines, detailLines(text).size() + (text.state.empty() ? 1 : 0));
    };
    for (const PictureNode& node : describePicture(graph).nodes)
        grow(boxText(graph, node, nullptr), kTextSize);
    LayoutOptions options;
    options.nodeWidth = std::clamp(std::ceil((width + kLeft + kRight) / 8) * 8, 224.0, 420.0);
    options.nodeHeight = 2 * kPadding + kTitleLine + kTextLine * static_cast<double>(lines);
    return options;
}

std::string pictureToSvg(const Graph& graph, const Picture& picture, const std::vector<LayerResult>& layers,
                         LayerPaint paint) {
    const std::vector<const LayerResult*> results = resultsByNode(graph, layers);
    std::vector<StateColors> colors = layerColors(layers);
    for (std::size_t l = 0; l < layers.size() && paint == LayerPaint::Sensitivity; ++l)
        colors[l].fill = layers[l].local ? sensitivityFill(layers[l].local->qs) : "#ffffff";
    std::string svg = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    svg += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}pt\" height=\"{1}pt\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"Inter, 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif\">\n",
        num(layers.empty() ? picture.width : std::max(picture.width, kLegendWidth)),
        num(picture.height + (layers.empty() ? 0 : kLegendHeight)));
    svg += fmt::format("<title>{}</title>\n", escapedXml(graph.facts().graphName));
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    svg += "<g fill=\"none\" stroke=\"#8b95a5\" stroke-width=\"1.2\" stroke-linejoin=\"round\">\n";
    for (const PictureEdge& edge : picture.edges)
        if (edge.drawn()) drawEdge(svg, edge);
    svg += "</g>\n";
    for (const PictureEdge& edge : picture.edges)
        if (edge.reference)
            drawText(svg, edge.points.front().x - 5, edge.points.front().y + 5, 7.5,
                     " text-anchor=\"end\" fill=\"#6b7480\"",
                     fitText(picture.nodes[edge.from].title, 90, 7.5, true));
    for (const PictureFrame& frame : picture.frames) {
        svg += fmt::format(
            "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"7\" fill=\"none\" "
            "stroke=\"#c9d0d9\"/>\n",
            num(frame.box.x), num(frame.box.y), num(frame.box.width), num(frame.box.height));
        drawText(svg, frame.box.x + 7, frame.box.y + 10.5, 8.5, " fill=\"#6b7480\"",
                 fitText(groupTitle(picture.groups[frame.group]), frame.box.width / 2 - 16, 8.5, true));
    }
    for (const PictureNode& node : picture.nodes) {
        if (node.kind == PictureNode::Kind::Group) {
            const GroupSummary group = summarize(picture.groups[node.group], results);
            drawBox(svg, node, groupText(picture, node, group),
                    group.lead == nullptr ? kUnknown
                                          : colors[static_cast<std::size_t>(group.lead - layers.data())]);
            continue;
        }
        const LayerResult* layer =
            node.kind == PictureNode::Kind::Layer ? results[node.layer.index()] : nullptr;
        const StateColors color = node.kind != PictureNode::Kind::Layer ? graphEndColors()
                                  : layer != nullptr ? colors[static_cast<std::size_t>(layer - layers.data())]
                                                     : kUnknown;
        if (node.isRow())
            drawRow(svg, node, boxText(graph, node, layer), color);
        else
            drawBox(svg, node, boxText(graph, node, layer), color);
    }
    if (!layers.empty()) drawLegend(svg, picture.height, paint);
    return svg + "</svg>\n";
}

std::string graphToSvg(const Graph& graph, const std::vector<LayerResult>& layers, const CancelToken& cancel,
                       const LayoutOptions& arrangement, LayerPaint paint) {
    LayoutOptions options = arrangement;
    const LayoutOptions boxes = detailedBoxes(graph);
    options.nodeWidth = boxes.nodeWidth, options.nodeHeight = boxes.nodeHeight;
    options.rowHeight = kTextLine + 4;
    return pictureToSvg(graph, layoutPicture(graph, options, cancel), layers, paint);
}

}  // namespace quantloupe
