// SPDX-License-Identifier: Apache-2.0
#pragma once
// All layers as a table, in graph order; the proxy sorts and filters.

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "document.h"
#include "models/metric.h"

namespace quantloupe::ui {

class LayerTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        Number,
        Name,
        Op,
        State,
        LocalQs,
        CumulativeQs,
        LeaveOneOut,
        Cosine,
        Sqnr,
        Macs,
        Parameters,
        Reason,
        ColumnCount
    };
    enum Role {
        SortRole = Qt::UserRole,  ///< what sorting compares; absent numbers are invalid
        HeatRole,                 ///< 0 to 1 where the cell has a bar
        StateRole,                ///< LayerState as int
        StaleRole,                ///< the number is of the configuration before
    };

    explicit LayerTableModel(Document* document, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    void update();
    QVariant display(const LayerResult& layer, int column, std::size_t row) const;
    QVariant sortKey(const LayerResult& layer, int column, std::size_t row) const;
    static std::optional<Metric> metricOf(int column);

    Document* m_document;
    std::size_t m_rows = 0;
    MetricScale m_local, m_cumulative, m_leaveOneOut, m_sqnr;
};

/// Words must all occur in name, type, state or reason; "op:Conv", "state:skipped" and "qs>0.2" (also <, for
/// qs, cumulative, loo, sqnr, macs) narrow further. Rows without a number sort last in both directions.
class LayerFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit LayerFilter(QObject* parent = nullptr);
    void setFilter(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    struct Term {
        int column = -1;  ///< -1: any
        QString text;
        QChar relation;  ///< '<' or '>' with number
        double number = 0;
    };
    QList<Term> m_terms;
};

}  // namespace quantloupe::ui
