// SPDX-License-Identifier: Apache-2.0
#include "models/history_model.h"

#include <QDateTime>
#include <QFont>
#include <QGuiApplication>
#include <cmath>
#include <utility>

#include "document/metric.h"
#include "models/headline.h"
#include "results/task_metric.h"
#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

std::optional<double> rateOf(const MeasuredConfig& entry) {
    const auto rate = meaningfulRate(entry.quantized);
    return rate ? std::optional(rate->value) : std::nullopt;
}

/// `own`: in the user's metric.
QString resultText(const MeasuredConfig& entry, bool own) {
    const auto& metric = entry.quantized.userMetric;
    if (own) return metric ? formatOwnMetric(*metric) : QStringLiteral("\u2013");
    if (const auto rate = rateOf(entry)) return formatRate(*rate);
    return entry.quantized.sqnrDb ? formatDecibel(*entry.quantized.sqnrDb) : QString();
}

/// Difference from the baseline or, if none is pinned, from the float model.
QString differenceText(const MeasuredConfig& entry, const MeasuredConfig* baseline, bool own) {
    if (baseline != nullptr && !entry.data.empty() && !baseline->data.empty() && entry.data != baseline->data)
        return {};
    if (own) {
        const auto metric = entry.quantized.userMetric;
        const auto other = baseline != nullptr ? baseline->quantized.userMetric : entry.floating.userMetric;
        return metric && other
                   ? formatMetricDifference(*metric, *other, Metric::LeaveOneOut, TaskMetric::User)
                   : QString();
    }
    if (const auto rate = rateOf(entry)) {
        const auto other = baseline != nullptr ? rateOf(*baseline) : std::nullopt;
        if (baseline != nullptr) return other ? formatPoints(*rate - *other) : QString();
        const auto drop = rateDrop(entry.floating, entry.quantized);
        return drop ? formatPoints(-*drop) : QString();
    }
    if (baseline == nullptr || !entry.quantized.sqnrDb || !baseline->quantized.sqnrDb) return {};
    const double difference = *entry.quantized.sqnrDb - *baseline->quantized.sqnrDb;
    if (!std::isfinite(difference)) return {};
    return (difference < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) +
           formatDecibel(std::abs(difference));
}

}  // namespace

HistoryModel::HistoryModel(Document* document, QObject* parent)
    : QAbstractTableModel(parent), m_document(document) {
    connect(document, &Document::historyChanged, this, &HistoryModel::update);
    connect(document, &Document::configChanged, this, &HistoryModel::update);
    connect(document, &Document::metricProgramChanged, this, &HistoryModel::update);
    connect(document, &Document::evaluationChanged, this, [this] {
        const EvaluationPtr evaluation = m_document->evaluation();
        const Version data = evaluation ? evaluation->data : Version{};
        if (std::exchange(m_data, data) != data) update();  // other entries are comparable now
    });
    update();
}

/// If only the appearance of rows has changed, the view keeps its selection.
void HistoryModel::update() {
    const auto& entries = m_document->history().entries();
    std::vector<std::string> versions;
    for (const MeasuredConfig& entry : entries) versions.push_back(entry.version);
    const bool same = versions == m_versions;
    const bool added = versions.size() == m_versions.size() + 1 &&
                       std::equal(m_versions.begin(), m_versions.end(), versions.begin());
    const auto current = m_document->history().findConfig(m_document->config());
    if (added) {
        beginInsertRows({}, 0, 0);
        m_versions = std::move(versions);
        endInsertRows();
    } else if (!same) {
        beginResetModel();
        m_versions = std::move(versions);
        m_current = current;
        endResetModel();
    }
    m_current = current;
    if (!m_versions.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    Q_EMIT updated();
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_versions.size());
}

int HistoryModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

std::size_t HistoryModel::entryOf(const QModelIndex& index) const {
    return m_versions.size() - 1 - static_cast<std::size_t>(index.row());
}

QString HistoryModel::change(const MeasuredConfig& entry) const {
    const QString text =
        m_document->withLayerNames(QString::fromStdString(entry.name.empty() ? entry.change : entry.name));
    return entry.version == m_document->history().baseline() ? QStringLiteral("\u2691 ") + text : text;
}

QVariant HistoryModel::display(const MeasuredConfig& entry, int column) const {
    const bool own = m_document->metricProgram().has_value();
    switch (column) {
        case Change:
            return change(entry);
        case Result:
            return resultText(entry, own);
        case Difference:
            return differenceText(entry, m_document->history().baselineEntry(), own);
        default:
            return {};
    }
}

QString HistoryModel::toolTip(const MeasuredConfig& entry) const {
    QStringList lines{m_document->withLayerNames(QString::fromStdString(entry.change))};
    const QDateTime when = QDateTime::fromString(QString::fromStdString(entry.measuredAt), Qt::ISODate);
    if (when.isValid())
        lines.append(tr("evaluated %1 on %2 in %3")
                         .arg(when.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")),
                              samplesText(entry.quantized.samples), formatSeconds(entry.seconds)));
    lines.append(
        tr("%1 quantized, %2 skipped").arg(layersText(entry.counts.quantized)).arg(entry.counts.skipped));
    if (!entry.note.empty()) lines.append(QString::fromStdString(entry.note));
    if (entry.otherModel)
        lines.append(tr("Evaluated before the model changed."));
    else if (!m_document->isComparable(entry))
        lines.append(tr("Evaluated on other data."));
    if (entry.version == m_document->history().baseline()) lines.append(tr("Pinned as the baseline."));
    return lines.join(QLatin1Char('\n'));
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const std::size_t row = entryOf(index);
    if (row >= m_document->history().entries().size()) return {};
    const MeasuredConfig& entry = m_document->history().entries()[row];
    switch (role) {
        case Qt::DisplayRole:
            return display(entry, index.column());
        case Qt::ToolTipRole:
            return toolTip(entry);
        case Qt::TextAlignmentRole:
            return QVariant(index.column() == Change ? Qt::AlignLeft | Qt::AlignVCenter
                                                     : Qt::AlignRight | Qt::AlignVCenter);
        case Qt::FontRole: {
            QFont font;
            font.setBold(m_current == row);
            font.setItalic(!m_document->isComparable(entry));
            return font;
        }
        case Qt::ForegroundRole:
            return m_document->isComparable(entry) ? QVariant()
                                                   : QVariant(themeOf(QGuiApplication::palette()).faint);
        default:
            return {};
    }
}

QVariant HistoryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section == Change ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case Change:
            return tr("Change");
        case Result:
            return m_document->metricProgram() ? tr("Metric") : tr("Accuracy");
        case Difference:
            return m_document->history().baselineEntry() ? tr("vs. \u2691") : tr("vs. float");
        default:
            return {};
    }
}

}  // namespace quantloupe::ui
