// SPDX-License-Identifier: Apache-2.0
#include "panels/block_table_model.h"

#include <algorithm>
#include <map>

#include "graph/node_look.h"

namespace quantloupe::ui {

BlockTableModel::BlockTableModel(Document* document, const GraphCanvas* canvas, QObject* parent)
    : QAbstractTableModel(parent), m_document(document), m_canvas(canvas) {}

void BlockTableModel::setMatrix(BlockMatrix matrix) {
    beginResetModel();
    m_matrix = std::move(matrix);
    m_places.clear();
    for (std::size_t place = 0; place < m_matrix.layers.size(); ++place)
        if (m_matrix.layers[place].valid()) m_places.emplace(m_matrix.layers[place], static_cast<int>(place));
    endResetModel();
    update();
}

void BlockTableModel::update() {
    std::map<QString, int> counts;
    for (const NodeId node : m_matrix.layers) {
        const LayerResult* layer = m_document->layer(node);
        if (layer && layer->state == LayerState::Quantized) ++counts[formatBits(*layer)];
    }
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    m_precision = most == counts.end() ? QString() : most->first;
    if (m_matrix.layers.empty()) return;
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

NodeId BlockTableModel::layerAt(const QModelIndex& index) const {
    return index.isValid()
               ? m_matrix.at(static_cast<std::size_t>(index.row()), static_cast<std::size_t>(index.column()))
               : NodeId();
}

QModelIndex BlockTableModel::indexOf(NodeId layer) const {
    const auto found = m_places.find(layer);
    if (found == m_places.end()) return {};
    return index(found->second / columnCount(), found->second % columnCount());
}

int BlockTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_matrix.blocks.size());
}

int BlockTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_matrix.roles.size());
}

Qt::ItemFlags BlockTableModel::flags(const QModelIndex& index) const {
    return layerAt(index).valid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
}

BlockTableModel::Mark BlockTableModel::markOf(const LayerResult& layer) const {
    if (layer.state == LayerState::Skipped || layer.state == LayerState::Float) return InFloat;
    return layer.state == LayerState::Quantized && formatBits(layer) != m_precision ? OtherPrecision : NoMark;
}

QString BlockTableModel::numberOf(const LayerResult& layer) const {
    const Overlay& overlay = m_canvas->overlay();
    if (overlay.metric == Metric::None) return stateText(layer.state);
    const auto value = overlay.valueOf(layer.node);
    if (!value) return QStringLiteral("\u2013");
    return overlay.metric == Metric::Bits ? formatBits(layer)
                                          : formatMetric(*value, overlay.metric, overlay.scale.gainMetric);
}

QString BlockTableModel::noteOf(const LayerResult& layer) const {
    switch (markOf(layer)) {
        case NoMark:
            return {};
        case InFloat:
            return layer.reason.empty()
                       ? tr("In float")
                       : tr("In float: %1")
                             .arg(m_document->withLayerNames(QString::fromStdString(layer.reason)));
        case OtherPrecision:
            return tr("Kept at %1; most layers of these blocks have %2").arg(formatBits(layer), m_precision);
    }
    return {};
}

QString BlockTableModel::toolTipOf(const QModelIndex& index, const LayerResult& layer) const {
    const Overlay& overlay = m_canvas->overlay();
    QStringList lines{QStringLiteral("<b>%1</b>").arg(m_document->layerName(layer.node).toHtmlEscaped()),
                      QString::fromStdString(layer.name).toHtmlEscaped(),
                      tr("%1 of %2 \u00b7 %3 \u00b7 %4")
                          .arg(headerData(index.column(), Qt::Horizontal).toString(),
                               headerData(index.row(), Qt::Vertical).toString(),
                               QString::fromStdString(layer.op), stateText(layer.state))
                          .toHtmlEscaped()};
    if (overlay.metric != Metric::None) {
        const QString why = overlay.valueOf(layer.node)
                                ? QString()
                                : m_document->withLayerNames(whyNoValue(*m_document, &layer, overlay.metric));
        lines.append(QStringLiteral("%1: %2")
                         .arg(metricName(overlay.metric), why.isEmpty() ? numberOf(layer) : why)
                         .toHtmlEscaped());
    }
    if (const QString note = noteOf(layer); !note.isEmpty()) lines.append(note.toHtmlEscaped());
    return lines.join(QStringLiteral("<br>"));
}

QVariant BlockTableModel::data(const QModelIndex& index, int role) const {
    const NodeId node = layerAt(index);
    if (!node.valid()) return {};
    const LayerResult* layer = m_document->layer(node);
    if (!layer) return role == Qt::AccessibleTextRole ? QVariant(m_document->layerName(node)) : QVariant();
    switch (role) {
        case Qt::DisplayRole:
            return numberOf(*layer);
        case Qt::ToolTipRole:
            return toolTipOf(index, *layer);
        case Qt::AccessibleTextRole:
            return tr("%1: %2, %3")
                .arg(m_document->layerName(node), numberOf(*layer), stateText(layer->state));
        case Qt::AccessibleDescriptionRole:
            return noteOf(*layer);
        case ColorRole: {
            const Theme& colors = themeOf(m_canvas->palette());
            const NodeLook look =
                lookOf(*layer, m_document->layers(), *m_document->graph(), m_canvas->overlay(), colors);
            if (m_canvas->overlay().metric == Metric::None) return look.fill;
            return look.heat < 0 ? QVariant() : QVariant(look.heatColor);
        }
        case MarkRole:
            return static_cast<int>(markOf(*layer));
        case StaleRole:
            return m_document->metricsStale();
        default:
            return {};
    }
}

QVariant BlockTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const auto& names = orientation == Qt::Horizontal ? m_matrix.roles : m_matrix.blocks;
    if (section < 0 || static_cast<std::size_t>(section) >= names.size()) return {};
    const QString& name = names[static_cast<std::size_t>(section)];
    switch (role) {
        case Qt::DisplayRole:
            return name;
        case Qt::ToolTipRole:
            return orientation == Qt::Horizontal ? tr("Select %1 in all blocks").arg(name)
                                                 : tr("Select all layers of %1").arg(name);
        case Qt::TextAlignmentRole:
            return static_cast<int>(orientation == Qt::Horizontal ? Qt::AlignCenter
                                                                  : Qt::AlignLeft | Qt::AlignVCenter);
        default:
            return {};
    }
}

}  // namespace quantloupe::ui
