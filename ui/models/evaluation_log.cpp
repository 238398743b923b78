// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation_log.h"

#include <utility>

#include "document/metric.h"
#include "models/command_line.h"
#include "results/task_metric.h"
#include "style/theme.h"

namespace quantloupe::ui {

EvaluationLog::EvaluationLog(Document* document, QObject* parent)
    : QAbstractTableModel(parent), m_document(document) {
    const auto what = [this, document] {
        if (std::exchange(m_newData, false)) return tr("New data");
        const QUndoStack* undo = document->undoStack();
        return undo->index() > 0 ? undo->text(undo->index() - 1) : tr("As opened");
    };
    connect(document, &Document::evaluationFinished, this, [this, what](double seconds) {
        const Evaluation& evaluation = *m_document->evaluation();
        LogEntry entry{QDateTime::currentDateTime(),
                       what(),
                       analyzeCommand(*m_document, evaluation.config),
                       evaluation.samples,
                       seconds,
                       {},
                       false,
                       evaluation.randomInputs};
        if (evaluation.quantized) {
            const Accuracy& accuracy = *evaluation.quantized;
            const auto rate = meaningfulRate(evaluation);
            entry.result = rate              ? formatRate(rate->value)
                           : accuracy.sqnrDb ? formatDecibel(*accuracy.sqnrDb)
                                             : QString();
            if (accuracy.userMetric)
                entry.result += QStringLiteral(" \u00b7 ") + formatOwnMetric(*accuracy.userMetric);
        }
        add(std::move(entry));
    });
    connect(document, &Document::failed, this, [this, what](const Failure& failure) {
        const QString command =
            m_document->hasModel() ? analyzeCommand(*m_document, m_document->config()) : QString();
        add({QDateTime::currentDateTime(), what(), command, 0, 0, failure.text, true, false});
    });
    connect(document, &Document::exportStarted, this, [this](const QString& name, const QString& command) {
        add({QDateTime::currentDateTime(), tr("Export %1").arg(name), command, 0, 0, {}, false, false});
    });
    connect(document, &Document::dataChanged, this, [this] { m_newData = !m_entries.empty(); });
    connect(document, &Document::configChanged, this, [this] { m_newData = false; });
    connect(document, &Document::modelChanged, this, [this] {
        beginResetModel();
        m_entries.clear();
        endResetModel();
    });
}

void EvaluationLog::add(LogEntry entry) {
    beginInsertRows({}, 0, 0);
    m_entries.insert(m_entries.begin(), std::move(entry));
    endInsertRows();
    if (m_entries.size() <= kMost) return;
    beginRemoveRows({}, static_cast<int>(kMost), static_cast<int>(m_entries.size()) - 1);
    m_entries.resize(kMost);
    endRemoveRows();
}

int EvaluationLog::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}
int EvaluationLog::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant EvaluationLog::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const LogEntry& entry = m_entries[static_cast<std::size_t>(index.row())];
    const bool words = index.column() == What || (entry.wrong && index.column() == Result);
    if (role == Qt::TextAlignmentRole)
        return QVariant((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::FontRole && !words) return numberFont(QFont());
    if (role == Qt::ToolTipRole) return entry.wrong ? entry.result : entry.command;
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case Time:
            return entry.when.toString(QStringLiteral("HH:mm:ss"));
        case Result:
            return entry.wrong ? tr("failed") : entry.result;
        case Seconds:
            return entry.seconds == 0 ? QString() : formatSeconds(entry.seconds);
        case Samples:
            return entry.samples == 0   ? QString()
                   : entry.randomInputs ? tr("%1 random").arg(entry.samples)
                                        : QString::number(entry.samples);
        case What:
            return entry.wrong ? entry.what + QStringLiteral(": ") + entry.result : entry.what;
        default:
            return {};
    }
}

QVariant EvaluationLog::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section == What ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    static constexpr const char* kNames[ColumnCount] = {QT_TR_NOOP("time"), QT_TR_NOOP("result"),
                                                        QT_TR_NOOP("duration"), QT_TR_NOOP("samples"),
                                                        QT_TR_NOOP("change")};
    return tr(kNames[section]);
}

}  // namespace quantloupe::ui
