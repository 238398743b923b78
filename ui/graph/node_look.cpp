// SPDX-License-Identifier: Apache-2.0
#include "graph/node_look.h"

namespace quantloupe::ui {

NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const MetricScale& scale, const Theme& theme) {
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
            look.number = QStringLiteral("float"), look.quiet = true;
            break;
        case LayerState::Folded:
            look.outline = theme.folded, look.fill = theme.foldedFill;
            look.number = QStringLiteral("folded"), look.quiet = true;
            break;
        case LayerState::Fused: {
            look.outline = theme.folded, look.fill = theme.foldedFill;
            look.number = QStringLiteral("fused"), look.quiet = true;
            const auto host = graph.findNode(layer.host);
            if (host && host->index() < layers.size()) {
                const LayerState state = layers[host->index()].state;
                look.fill = state == LayerState::Quantized ? theme.quantizedFill : theme.inFloatFill;
                look.hatched = state == LayerState::Skipped;
            }
            break;
        }
    }
    look.band = look.outline;
    if (const auto value = metricValue(layer, scale.metric)) {
        look.number = formatMetric(*value, scale.metric);
        look.heat = scale.position(*value);
    }
    return look;
}

std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const MetricScale& scale, const Theme& theme) {
    std::vector<NodeLook> looks(picture.nodes.size());
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const PictureNode& node = picture.nodes[i];
        if (node.kind != PictureNode::Kind::Layer) {
            looks[i].outline = looks[i].band = theme.io;
            looks[i].fill = theme.ioFill;
            looks[i].number =
                node.kind == PictureNode::Kind::Input ? QStringLiteral("input") : QStringLiteral("output");
            looks[i].quiet = true;
        } else if (node.layer.index() < layers.size()) {
            looks[i] = lookOf(layers[node.layer.index()], layers, graph, scale, theme);
        } else {
            looks[i].outline = looks[i].band = theme.edge;
            looks[i].fill = theme.panel;
        }
    }
    return looks;
}

}  // namespace quantloupe::ui
