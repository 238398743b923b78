// SPDX-License-Identifier: Apache-2.0
#include "graph/node_look.h"

#include <cmath>

#include "results/layer_host.h"
#include "style/words.h"

namespace quantloupe::ui {

NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const Overlay& overlay, const Theme& theme) {
    NodeLook look;
    switch (layer.state) {
        case LayerState::Quantized:
            look.outline = theme.quantized, look.fill = theme.quantizedFill;
            break;
        case LayerState::Skipped:
            look.outline = theme.inFloat, look.fill = theme.inFloatFill;
            look.dashed = look.hatched = true;
            look.quiet = true;
            break;
        case LayerState::Float:
            look.outline = theme.inFloat, look.fill = theme.inFloatFill;
            look.number = Words::tr("float"), look.quiet = true;
            break;
        case LayerState::Folded:
            look.outline = theme.folded, look.fill = theme.foldedFill;
            look.number = Words::tr("folded"), look.quiet = true;
            break;
        case LayerState::Fused: {
            look.outline = theme.folded, look.fill = theme.foldedFill;
            look.number = Words::tr("fused"), look.quiet = true;
            const LayerState host = layers[hostOf(graph, layers, layer.node.index())].state;
            look.fill = host == LayerState::Quantized ? theme.quantizedFill : theme.inFloatFill;
            look.hatched = host == LayerState::Skipped;
            break;
        }
    }
    look.band = look.outline;
    if (overlay.metric == Metric::None) return look;
    if (const auto value = overlay.valueOf(layer.node)) {
        look.number = overlay.metric == Metric::Bits
                          ? formatBits(layer)
                          : formatMetric(*value, overlay.metric, overlay.scale.gainMetric);
        if (overlay.metric == Metric::Latency) {
            look.quiet = overlay.estimated[layer.node.index()];
            look.number.remove(QStringLiteral(" ms"));  // as the legend says; boxes are narrow
            if (look.quiet) look.number.prepend(QStringLiteral("\u2248"));
        }
        const double position = overlay.scale.position(*value);
        look.heat = overlay.scale.diverging ? std::abs(2 * position - 1) : position;
        look.heatColor = scaleColor(overlay.scale, position, theme);
        if (overlay.metric == Metric::Bits) {
            look.quiet = false;
            look.heat = 1;
            look.heatColor = precisionColor(static_cast<std::size_t>(precisionClassOf(layer)), theme.dark);
        }
    } else {
        look.noValue = true;
    }
    return look;
}

void dim(NodeLook& look, const Theme& theme) {
    constexpr double kLeft = 0.25;
    look.dimmed = true;
    for (QColor* color : {&look.outline, &look.fill, &look.band, &look.heatColor})
        *color = blended(*color, theme.canvas, kLeft);
}

QColor scaleColor(const MetricScale& scale, double position, const Theme& theme) {
    return scale.diverging ? differenceColor(position, theme.dark) : heatColor(position, theme.dark);
}

const NodeLook& heatLook(const Picture& picture, const std::vector<NodeLook>& looks, std::size_t box) {
    const PictureNode& node = picture.nodes[box];
    return node.isRow() && looks[box].heat < 0 ? looks[node.host] : looks[box];
}

NodeId worstOf(const Group& group, const Overlay& overlay) {
    NodeId worst;
    double most = -1;
    for (const NodeId layer : group.nodes) {
        const auto value = overlay.valueOf(layer);
        if (!value) continue;
        const double position = overlay.scale.axisPosition(*value);
        if (position <= most) continue;
        worst = layer;
        most = position;
    }
    return worst;
}

namespace {

NodeLook lookOfGroup(const Group& group, const std::vector<LayerResult>& layers, const Graph& graph,
                     const Overlay& overlay, const Theme& theme) {
    std::size_t quantized = 0, skipped = 0, floating = 0, inside = 0;
    for (const NodeId node : group.nodes) {
        if (node.index() >= layers.size()) continue;
        const LayerState state = layers[node.index()].state;
        quantized += state == LayerState::Quantized;
        skipped += state == LayerState::Skipped;
        floating += state == LayerState::Float;
        inside += state == LayerState::Folded || state == LayerState::Fused;
    }
    NodeLook look;
    if (const NodeId worst = worstOf(group, overlay); worst.valid() && overlay.metric != Metric::None)
        look = lookOf(layers[worst.index()], layers, graph, overlay, theme);
    look.noValue = overlay.metric != Metric::None && look.heat < 0;
    look.dashed = look.hatched = skipped > 0;
    look.dashed = look.dashed && quantized == 0;
    look.quiet = skipped > 0;
    const bool known = quantized + skipped + floating + inside > 0;
    look.outline = quantized > 0 ? theme.quantized : known ? theme.inFloat : theme.edge;
    look.fill = quantized > 0 ? theme.quantizedFill : known ? theme.inFloatFill : theme.panel;
    look.band = look.outline;
    look.group = true;
    const auto all = static_cast<double>(group.nodes.size());
    look.parts = {static_cast<double>(quantized) / all, static_cast<double>(skipped) / all,
                  static_cast<double>(floating) / all, static_cast<double>(inside) / all};
    return look;
}

}  // namespace

namespace {

/// Folded and fused rows have the look of their layer; other rows keep their own.
void joinStacks(const Picture& picture, const std::vector<LayerResult>& layers,
                std::vector<NodeLook>& looks) {
    for (std::size_t i = looks.size(); i-- > 0;) {
        const PictureNode& node = picture.nodes[i];
        if (node.rowsHeight > 0) looks[i].part = StackPart::Top;
        if (!node.isRow()) continue;
        NodeLook& host = looks[node.host];  // hosts come before their rows
        const bool last = host.part == StackPart::Whole;
        looks[i].part = last ? StackPart::Bottom : StackPart::Middle;
        host.part = StackPart::Top;
        looks[i].hatched = false;
        if (node.layer.index() >= layers.size()) continue;
        const LayerState state = layers[node.layer.index()].state;
        if (state != LayerState::Folded && state != LayerState::Fused) continue;
        looks[i].outline = host.outline, looks[i].fill = host.fill, looks[i].band = host.band;
        looks[i].dashed = host.dashed;
    }
}

}  // namespace

std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const Overlay& overlay, const Theme& theme) {
    std::vector<NodeLook> looks(picture.nodes.size());
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const PictureNode& node = picture.nodes[i];
        if (node.kind == PictureNode::Kind::Group) {
            looks[i] = lookOfGroup(picture.groups[node.group], layers, graph, overlay, theme);
        } else if (node.kind != PictureNode::Kind::Layer) {
            looks[i].outline = looks[i].band = theme.io;
            looks[i].fill = theme.ioFill;
            looks[i].number =
                node.kind == PictureNode::Kind::Input ? Words::tr("input") : Words::tr("output");
            looks[i].quiet = true;
        } else if (node.layer.index() < layers.size()) {
            looks[i] = lookOf(layers[node.layer.index()], layers, graph, overlay, theme);
        } else {
            looks[i].outline = looks[i].band = theme.edge;
            looks[i].fill = theme.panel;
        }
    }
    joinStacks(picture, layers, looks);
    return looks;
}

}  // namespace quantloupe::ui
