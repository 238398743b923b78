// SPDX-License-Identifier: Apache-2.0 Texts about a layer on the canvas: tool tips, and the lines in its box
// at a high zoom.
#include <QToolTip>

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
    if (layer.macs > 0) parts.append(GraphCanvas::tr("%1 MACs").arg(formatCount(layer.macs)));
    if (layer.parameters > 0) parts.append(GraphCanvas::tr("%1 weights").arg(formatCount(layer.parameters)));
    return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace

/// Type, name, shapes with attributes, the reason for the state, bits and scales, MACs and weights.
QStringList GraphCanvas::detailsOf(std::size_t box) const {
    const PictureNode& drawn = m_picture->nodes[box];
    if (drawn.kind != PictureNode::Kind::Layer || !m_graph) return {};
    const Node& node = m_graph->node(drawn.layer);
    QStringList lines{QString::fromStdString(drawn.title), m_document->layerName(drawn.layer)};
    const QString separator = QStringLiteral(" \u00b7 ");
    QString shapes = joined(inputShapes(*m_graph, node), QStringLiteral(", ")) + QStringLiteral(" \u2192 ") +
                     joined(outputShapes(*m_graph, node), QStringLiteral(", "));
    const QString attributes = joined(attributeTexts(node), separator);
    lines.append(attributes.isEmpty() ? shapes : shapes + separator + attributes);
    if (const LayerResult* layer = layerResult(drawn.layer)) {
        const QString why = layer->state == LayerState::Quantized || layer->reason.empty()
                                ? QString()
                                : stateText(layer->state) + QStringLiteral(": ") +
                                      m_document->withLayerNames(QString::fromStdString(layer->reason));
        for (const QString& line : {why, m_scales->of(*layer), sizeText(*layer)})
            if (!line.isEmpty()) lines.append(line);
    }
    return lines;
}

void GraphCanvas::showToolTip(QPoint position, QPoint global) {
    const auto box = boxAt(position);
    if (!box) {
        QToolTip::hideText();
        return;
    }
    const PictureNode& node = m_picture->nodes[*box];
    QString text;
    if (node.kind == PictureNode::Kind::Group) {
        text = groupHint(node);
    } else if (const NodeId id = layerOf(*box); id.valid()) {
        text = QStringLiteral("<b>%1</b><br>%2")
                   .arg(m_document->layerName(id).toHtmlEscaped(),
                        QString::fromStdString(m_graph->node(id).name).toHtmlEscaped());
        text += QStringLiteral("<br>") + QString::fromStdString(node.title).toHtmlEscaped();
        if (const LayerResult* layer = layerResult(id)) {
            text += QStringLiteral(" \u00b7 ") + stateText(layer->state);
            if (!layer->reason.empty())
                text += QStringLiteral("<br>") +
                        m_document->withLayerNames(QString::fromStdString(layer->reason)).toHtmlEscaped();
            if (layer->local) {
                text += tr("<br>QS local ") + formatQs(layer->local->qs);
                if (layer->state == LayerState::Skipped) text += tr(" if quantized");
            }
            if (layer->cumulative) text += tr("<br>QS cumulative ") + formatQs(layer->cumulative->qs);
            text += overlayHint(id);
        }
    } else {
        text = QStringLiteral("<b>%1</b><br>%2")
                   .arg(QString::fromStdString(node.title).toHtmlEscaped(),
                        QString::fromStdString(node.subtitle).toHtmlEscaped());
    }
    QToolTip::showText(global, text, this);
}

QString GraphCanvas::groupHint(const PictureNode& node) const {
    const Group& group = m_picture->groups[node.group];
    QString text =
        QStringLiteral("<b>%1</b><br>%2")
            .arg(QString::fromStdString(group.name).toHtmlEscaped(), QString::fromStdString(node.subtitle));
    std::map<LayerState, int> counts;
    for (const NodeId id : group.nodes)
        if (const LayerResult* layer = layerResult(id)) ++counts[layer->state];
    QStringList words;
    for (const auto& [state, count] : counts)
        words.append(QStringLiteral("%1 %2").arg(count).arg(stateText(state)));
    if (!words.isEmpty()) text += QStringLiteral("<br>") + words.join(QStringLiteral(", "));
    if (m_metric != Metric::None) {
        const NodeId worst = worstOf(group, m_overlay);
        text += worst.valid()
                    ? tr("<br>Worst %1: %2, %3")
                          .arg(metricName(m_metric), formatMetric(*m_overlay.valueOf(worst), m_metric),
                               m_document->layerName(worst).toHtmlEscaped())
                    : tr("<br>%1: no layer in this group has a value").arg(metricName(m_metric));
    }
    return text + tr("<br><i>Double-click to expand</i>");
}

/// The line of the displayed metric, unless the tool tip already contains it.
QString GraphCanvas::overlayHint(NodeId id) const {
    if (m_metric == Metric::None) return {};
    const QString name = QStringLiteral("<br>%1: ").arg(metricName(m_metric));
    const auto value = m_overlay.valueOf(id);
    if (!value) {
        const QString why = m_document->withLayerNames(whyNoValue(*m_document, layerResult(id), m_metric));
        return name + tr("no value") +
               (why.isEmpty() ? QString() : QStringLiteral(", ") + why.toHtmlEscaped());
    }
    if (m_metric == Metric::LocalQs || m_metric == Metric::CumulativeQs) return {};
    if (m_metric == Metric::Difference)
        return tr("<br>Cumulative QS %1 compared with %2")
            .arg(formatMetric(*value, m_metric), reference().name());
    if (m_metric == Metric::Latency)
        return name + formatMetric(*value, m_metric) +
               (m_overlay.estimated[id.index()] ? tr(", estimated") : tr(", measured"));
    return name + (m_metric == Metric::Bits ? formatBits(*layerResult(id)) : formatMetric(*value, m_metric));
}

}  // namespace quantloupe::ui
