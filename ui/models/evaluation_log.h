// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluations of this session, newest first: time, change, number of images, duration, result. GUI
// thread.

#include <QAbstractTableModel>
#include <QDateTime>

#include "document/document.h"

namespace quantloupe::ui {

struct LogEntry {
    QDateTime when;
    QString what;  ///< "Skip Conv_3"
    QuantizationConfig config;
    std::size_t samples = 0, calibrationSamples = 0;
    double seconds = 0;
    QString result;  ///< "87.9 %", or what went wrong
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
};

/// Returns a shell command that evaluates this configuration again: the preset, and each key that differs
/// from it as --set, including rules and layer settings. Names in it are quoted for a POSIX shell.
QString commandLineOf(const Document& document, const QuantizationConfig& config);

}  // namespace quantloupe::ui
