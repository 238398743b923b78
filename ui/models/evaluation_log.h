// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluations and exports of this session, newest first: time, change, number of images, duration,
// result, and the equivalent command line. GUI thread.

#include <QAbstractTableModel>
#include <QDateTime>

#include "document/document.h"

namespace quantloupe::ui {

struct LogEntry {
    QDateTime when;
    QString what;     ///< "Skip Conv_3"
    QString command;  ///< for a POSIX shell; empty: the command line cannot do this
    std::size_t samples = 0;
    double seconds = 0;
    QString result;  ///< "87.9 %", or the error
    bool wrong = false, randomInputs = false;
};

class EvaluationLog : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Time, Result, Seconds, Samples, What, ColumnCount };
    static constexpr std::size_t kMost = 1000;

    explicit EvaluationLog(Document* document, QObject* parent = nullptr);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    const LogEntry& entry(int row) const { return m_entries[static_cast<std::size_t>(row)]; }

  private:
    void add(LogEntry entry);
    Document* m_document;
    std::vector<LogEntry> m_entries;
    bool m_newData = false;  ///< the next evaluation is the first one on other data
};

}  // namespace quantloupe::ui
