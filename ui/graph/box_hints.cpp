// SPDX-License-Identifier: Apache-2.0
#include "graph/box_hints.h"

#include <map>

#include "graph/graph_canvas.h"
#include "picture/picture_text.h"

namespace quantloupe::ui {

namespace {

QString joined(const std::vector<std::string>& texts, const QString& between) {
    QStringList list;
    for (const std::string& text : texts) list.append(QString::fromStdString(text));
    return list.join(between);
}

QString sizeText(const LayerResult& layer) {
    QStringList parts;
    if (layer.macs > 0) parts.append(BoxHints::tr("%1 MACs").arg(formatCount(layer.macs)));
    if (layer.parameters > 0) parts.append(BoxHints::tr("%1 weights").arg(formatCount(layer.parameters)));
    return parts.join(QStringLiteral(" \u00b7 "));
}

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

}  // namespace

/// Type, name, shapes with attributes, the reason for the state, bits and scales, MACs and weights.
QStringList BoxHints::details(std::size_t box) const {
    const PictureNode& drawn = m_canvas->shown().node(box);
    const GraphPtr& graph = m_canvas->shown().graph();
    if (drawn.kind != PictureNode::Kind::Layer || !graph) return {};
    const Node& node = graph->node(drawn.layer);
    QStringList lines{QString::fromStdString(drawn.title), m_document->layerName(drawn.layer)};
    const QString separator = QStringLiteral(" \u00b7 ");
    QString shapes = joined(inputShapes(*graph, node), QStringLiteral(", ")) + QStringLiteral(" \u2192 ") +
                     joined(outputShapes(*graph, node), QStringLiteral(", "));
    const QString attributes = joined(attributeTexts(node), separator);
    lines.append(attributes.isEmpty() ? shapes : shapes + separator + attributes);
    if (const LayerResult* layer = m_canvas->layerResult(drawn.layer)) {
        const QString why = layer->state == LayerState::Quantized || layer->reason.empty()
                                ? QString()
                                : stateText(layer->state) + QStringLiteral(": ") +
                                      m_document->withLayerNames(QString::fromStdString(layer->reason));
        for (const QString& line : {why, m_scales->of(*layer), sizeText(*layer)})
            if (!line.isEmpty()) lines.append(line);
    }
    return lines;
}

QString BoxHints::toolTip(std::size_t box) const {
    const PictureNode& node = m_canvas->shown().node(box);
    if (node.kind == PictureNode::Kind::Group) return groupTip(node);
    if (const NodeId id = node.layer; id.valid()) return layerTip(id, node);
    return QStringLiteral("<b>%1</b><br>%2").arg(escaped(node.title), escaped(node.subtitle));
}

QString BoxHints::layerTip(NodeId id, const PictureNode& node) const {
    QString text = QStringLiteral("<b>%1</b><br>%2")
                       .arg(m_document->layerName(id).toHtmlEscaped(),
                            escaped(m_canvas->shown().graph()->node(id).name));
    text += QStringLiteral("<br>") + escaped(node.title);
    const LayerResult* layer = m_canvas->layerResult(id);
    if (!layer) return text;
    text += QStringLiteral(" \u00b7 ") + stateText(layer->state);
    if (!layer->reason.empty())
        text += QStringLiteral("<br>") +
                m_document->withLayerNames(QString::fromStdString(layer->reason)).toHtmlEscaped();
    if (layer->local) {
        text += tr("<br>QS local ") + formatQs(layer->local->qs);
        if (layer->state == LayerState::Skipped) text += tr(" if quantized");
    }
    if (layer->cumulative) text += tr("<br>QS cumulative ") + formatQs(layer->cumulative->qs);
    return text + metricLine(id);
}

QString BoxHints::groupTip(const PictureNode& node) const {
    const Group& group = m_canvas->picture()->groups[node.group];
    QString text =
        QStringLiteral("<b>%1</b><br>%2").arg(escaped(group.name), QString::fromStdString(node.subtitle));
    std::map<LayerState, int> counts;
    for (const NodeId id : group.nodes)
        if (const LayerResult* layer = m_canvas->layerResult(id)) ++counts[layer->state];
    QStringList words;
    for (const auto& [state, count] : counts)
        words.append(QStringLiteral("%1 %2").arg(count).arg(stateText(state)));
    if (!words.isEmpty()) text += QStringLiteral("<br>") + words.join(QStringLiteral(", "));
    const Metric metric = m_canvas->metric();
    if (metric != Metric::None) {
        const NodeId worst = worstOf(group, m_canvas->overlay());
        text += worst.valid() ? tr("<br>Worst %1: %2, %3")
                                    .arg(metricName(metric),
                                         formatMetric(*m_canvas->overlay().valueOf(worst), metric,
                                                      m_canvas->scale().gainMetric),
                                         m_document->layerName(worst).toHtmlEscaped())
                              : tr("<br>%1: no layer in this group has a value").arg(metricName(metric));
    }
    return text + tr("<br><i>Double-click to expand</i>");
}

/// The line of the displayed metric, unless the tool tip already contains it.
QString BoxHints::metricLine(NodeId id) const {
    const Metric metric = m_canvas->metric();
    if (metric == Metric::None) return {};
    const QString name = QStringLiteral("<br>%1: ").arg(metricName(metric));
    const auto value = m_canvas->overlay().valueOf(id);
    const LayerResult* layer = m_canvas->layerResult(id);
    if (!value) {
        const QString why = m_document->withLayerNames(whyNoValue(*m_document, layer, metric));
        return name + tr("no value") +
               (why.isEmpty() ? QString() : QStringLiteral(", ") + why.toHtmlEscaped());
    }
    if (metric == Metric::LocalQs || metric == Metric::CumulativeQs) return {};
    if (metric == Metric::Difference)
        return tr("<br>Cumulative QS %1 compared with %2")
            .arg(formatMetric(*value, metric), m_document->reference().name());
    if (metric == Metric::Latency)
        return name + formatMetric(*value, metric) +
               (m_canvas->overlay().estimated[id.index()] ? tr(", estimated") : tr(", measured"));
    return name + (metric == Metric::Bits ? formatBits(*layer)
                                          : formatMetric(*value, metric, m_canvas->scale().gainMetric));
}

}  // namespace quantloupe::ui
