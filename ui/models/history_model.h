// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluated configurations as a table, newest first.

#include <QAbstractTableModel>

#include "document/document.h"

namespace quantloupe::ui {

class HistoryModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Result, Difference, Change, ColumnCount };

    explicit HistoryModel(Document* document, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Returns the index into the document's history.
    std::size_t entryOf(const QModelIndex& index) const;

  Q_SIGNALS:
    void updated();  ///< the rows or their appearance have changed

  private:
    void update();
    QVariant display(const MeasuredConfig& entry, int column) const;
    QString toolTip(const MeasuredConfig& entry) const;
    QString change(const MeasuredConfig& entry) const;

    Document* m_document;
    std::vector<std::string> m_versions;   ///< versions of the rows, oldest first
    Version m_data;                        ///< of the shown evaluation
    std::optional<std::size_t> m_current;  ///< entry of the document's configuration
};

}  // namespace quantloupe::ui
