// SPDX-License-Identifier: Apache-2.0
#include "models/layer_table_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// The keys of the columns, which are also their headings in English.
constexpr std::array<const char*, LayerTableModel::ColumnCount> kColumnKeys = {
    "#",
    QT_TRANSLATE_NOOP("Words", "layer"),
    QT_TRANSLATE_NOOP("Words", "op"),
    QT_TRANSLATE_NOOP("Words", "state"),
    QT_TRANSLATE_NOOP("Words", "QS local"),
    QT_TRANSLATE_NOOP("Words", "QS weight"),
    QT_TRANSLATE_NOOP("Words", "cumulative"),
    QT_TRANSLATE_NOOP("Words", "one out"),
    QT_TRANSLATE_NOOP("Words", "cosine"),
    QT_TRANSLATE_NOOP("Words", "SQNR"),
    QT_TRANSLATE_NOOP("Words", "MACs"),
    QT_TRANSLATE_NOOP("Words", "weights"),
    QT_TRANSLATE_NOOP("Words", "latency"),
    QT_TRANSLATE_NOOP("Words", "bits"),
    QT_TRANSLATE_NOOP("Words", "why")};
const QString kNone = QStringLiteral("\u2013");
}  // namespace

LayerTableModel::LayerTableModel(Document* document, QObject* parent)
    : QAbstractTableModel(parent), m_document(document) {
    connect(document, &Document::layersChanged, this, &LayerTableModel::update);
    connect(document, &Document::evaluationChanged, this, [this] {  // in addition to layersChanged()
        if (m_rows > 0 && std::exchange(m_stale, m_document->metricsStale()) != m_stale)
            Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(m_rows) - 1, ColumnCount - 1),
                               {StaleRole});
    });
    update();
}

void LayerTableModel::update() {
    const auto& layers = m_document->layers();
    m_stale = m_document->metricsStale();
    m_anyQuantizable = std::ranges::any_of(layers, &LayerResult::quantizable);
    if (layers.size() != m_rows) {
        beginResetModel();
        m_rows = layers.size();
        endResetModel();
    } else if (m_rows > 0) {
        Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(m_rows) - 1, ColumnCount - 1));
    }
}

int LayerTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows);
}
int LayerTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

std::optional<Metric> LayerTableModel::metricOf(int column) {
    switch (column) {
        case LocalQs:
            return Metric::LocalQs;
        case WeightQs:
            return Metric::WeightQs;
        case CumulativeQs:
            return Metric::CumulativeQs;
        case LeaveOneOut:
            return Metric::LeaveOneOut;
        case Cosine:
            return Metric::Cosine;
        case Sqnr:
            return Metric::Sqnr;
        case Macs:
            return Metric::Macs;
        case Latency:
            return Metric::Latency;
        default:
            return std::nullopt;
    }
}

std::optional<double> LayerTableModel::valueOf(const LayerResult& layer, Metric metric) const {
    if (metric != Metric::Latency) return metricValue(layer, metric);
    const auto cell = m_document->latency().of(layer);
    return cell ? std::optional(cell->ms) : std::nullopt;
}

QString LayerTableModel::latencyHint(const LayerResult& layer) const {
    const auto cell = m_document->latency().of(layer);
    if (!cell) return {};
    return cell->estimated ? tr("%1, estimated: no profile has this layer at this precision")
                                 .arg(formatMilliseconds(cell->ms))
                           : tr("%1, measured").arg(formatMilliseconds(cell->ms));
}

QVariant LayerTableModel::display(const LayerResult& layer, int column, std::size_t row) const {
    if (const auto metric = metricOf(column)) {
        const auto value = valueOf(layer, *metric);
        if (!value) return kNone;
        const bool estimated = metric == Metric::Latency && m_document->latency().of(layer)->estimated;
        return (estimated ? QStringLiteral("\u2248") : QString()) +
               formatMetric(*value, *metric, gainMetric());
    }
    switch (column) {
        case Number:
            return static_cast<int>(row);
        case Name:
            return m_document->layerName(layer.node);
        case Op:
            return QString::fromStdString(layer.op);
        case State:
            return stateText(layer.state);
        case Parameters:
            return layer.parameters > 0 ? formatCount(layer.parameters) : kNone;
        case Bits: {
            if (layer.state != LayerState::Quantized && layer.state != LayerState::Skipped) return kNone;
            if (layer.precision == Precision::float16()) return QStringLiteral("F16");
            if (!layer.precision.isInteger()) return QStringLiteral("F32");
            return QStringLiteral("%1/%2")
                .arg(layer.parameters > 0 ? QString::number(layer.precision.weightBits) : kNone)
                .arg(layer.precision.activationBits);
        }
        case Reason:
            return m_document->withLayerNames(QString::fromStdString(layer.reason));
        default:
            return {};
    }
}

bool LayerTableModel::isQuantizable(int row) const {
    const LayerResult* layer = layerAt(row);
    return !m_anyQuantizable || (layer && layer->quantizable);
}

TaskMetric LayerTableModel::gainMetric() const { return m_document->gainMetric(); }

bool LayerTableModel::hasName(int row, const QString& text) const {
    const LayerResult* layer = layerAt(row);
    return layer && m_document->names().matches(layer->node, text.toStdString());
}

bool LayerTableModel::matches(int row, const NamePattern& pattern) const {
    const LayerResult* layer = layerAt(row);
    return layer && pattern.matches(m_document->graph()->node(layer->node));
}

const LayerResult* LayerTableModel::layerAt(int row) const {
    const auto& layers = m_document->layers();
    return row >= 0 && static_cast<std::size_t>(row) < layers.size() ? &layers[static_cast<std::size_t>(row)]
                                                                     : nullptr;
}

bool LayerTableModel::isNumeric(int column) {
    return metricOf(column) || column == Number || column == Parameters;
}

std::optional<double> LayerTableModel::sortNumber(int row, int column) const {
    const auto& layers = m_document->layers();
    if (static_cast<std::size_t>(row) >= layers.size()) return std::nullopt;
    const LayerResult& layer = layers[static_cast<std::size_t>(row)];
    std::optional<double> value;
    if (column == Number) value = row;
    if (const auto metric = metricOf(column)) value = valueOf(layer, *metric);
    if (column == Parameters && layer.parameters > 0) value = static_cast<double>(layer.parameters);
    return value && std::isnan(*value) ? std::nullopt : value;
}

QVariant LayerTableModel::data(const QModelIndex& index, int role) const {
    const auto& layers = m_document->layers();
    if (!index.isValid() || static_cast<std::size_t>(index.row()) >= layers.size()) return {};
    const auto row = static_cast<std::size_t>(index.row());
    const LayerResult& layer = layers[row];
    switch (role) {
        case Qt::DisplayRole:
            return display(layer, index.column(), row);
        case Qt::ToolTipRole:
            if (index.column() == Name) return QString::fromStdString(layer.name);
            if (index.column() == State || index.column() == Reason)
                return m_document->withLayerNames(QString::fromStdString(layer.reason));
            if (index.column() == Latency) return latencyHint(layer);
            if (const auto metric = metricOf(index.column())) {
                const LayerResult* baseline = m_document->reference().baselineLayer(layer.node);
                if (!baseline) return {};
                const auto now = metricValue(layer, *metric), then = metricValue(*baseline, *metric);
                if (!now || !then) return {};
                const TaskMetric unit = gainMetric();
                return tr("%1; baseline %2 (%3)")
                    .arg(formatMetric(*now, *metric, unit), formatMetric(*then, *metric, unit),
                         formatMetricDifference(*now, *then, *metric, unit));
            }
            return {};
        case Qt::TextAlignmentRole: {
            const bool words = index.column() == Name || index.column() == Op || index.column() == State ||
                               index.column() == Reason;
            return static_cast<int>((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        }
        case SortRole: {
            if (!isNumeric(index.column())) return display(layer, index.column(), row);
            const auto number = sortNumber(index.row(), index.column());
            return number ? QVariant(*number) : QVariant();
        }
        case StateRole:
            return static_cast<int>(layer.state);
        case StaleRole:
            return m_document->metricsStale();
        case HeatRole: {
            const auto metric = metricOf(index.column());
            if (!metric || metric == Metric::Macs || metric == Metric::Cosine) return {};
            const auto value = valueOf(layer, *metric);
            return value ? QVariant(m_document->scale(*metric).position(*value)) : QVariant();
        }
        default:
            return {};
    }
}

QString LayerTableModel::columnKey(int column) {
    return QString::fromLatin1(kColumnKeys[static_cast<std::size_t>(column)]);
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) {
        const bool words = section == Name || section == Op || section == State || section == Reason;
        return static_cast<int>((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole) {
        if (const auto metric = metricOf(section)) return metricMeaning(*metric);
        return {};
    }
    if (role == Qt::InitialSortOrderRole) {
        // The first click on a header sorts the worst or the largest values to the top.
        const bool largestFirst = section == LocalQs || section == WeightQs || section == CumulativeQs ||
                                  section == LeaveOneOut || section == Macs || section == Parameters ||
                                  section == Latency;
        return static_cast<int>(largestFirst ? Qt::DescendingOrder : Qt::AscendingOrder);
    }
    if (role != Qt::DisplayRole) return {};
    return section >= 0 && section < ColumnCount ? Words::tr(kColumnKeys[static_cast<std::size_t>(section)])
                                                 : QVariant();
}

}  // namespace quantloupe::ui
