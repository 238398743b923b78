// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of a layer's numbers: its channels, and its weights before and after the transforms. The displayed
// table can be copied as CSV.

#include <QAbstractTableModel>
#include <QDialog>
#include <QTableView>

#include "models/layer_insight.h"

namespace quantloupe::ui {

/// Rows of numbers with headings; missing numbers are NaN.
class NumberTable : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// `cell` returns the number in a row and a column.
    NumberTable(QStringList heads, int rows, std::function<double(int, int)> cell, QObject* parent = nullptr);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Returns the table with headings and row numbers, separated by commas, in full precision.
    QString asCsv() const;

  private:
    QStringList m_heads;
    int m_rows;
    std::function<double(int, int)> m_cell;
};

class TensorWindow : public QDialog {
    Q_OBJECT
  public:
    /// `layer`: the display name, for the title.
    TensorWindow(const LayerInsight& insight, const QString& layer, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    /// Shows a table, if it exists: 0: channels, 1: weights before, 2: weights after.
    void showTable(int index);
    QString asCsv() const;

  private:
    QList<NumberTable*> m_tables;
    QTableView* m_view;
};

}  // namespace quantloupe::ui
