// SPDX-License-Identifier: Apache-2.0
#pragma once
// All layers as a table in graph order.

#include <QAbstractTableModel>
#include <optional>

#include "config/name_pattern.h"
#include "document/document.h"
#include "document/metric.h"

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
        WeightQs,
        CumulativeQs,
        LeaveOneOut,
        Cosine,
        Sqnr,
        Macs,
        Parameters,
        Latency,
        Bits,
        Reason,
        ColumnCount
    };
    enum Role {
        SortRole = Qt::UserRole,  ///< value used for sorting; missing numbers are invalid
        HeatRole,                 ///< 0 to 1 where the cell has a bar
        StateRole,                ///< LayerState as int
        StaleRole,                ///< the number belongs to the previous configuration
    };

    explicit LayerTableModel(Document* document, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// The untranslated key of a column, used in the settings.
    static QString columnKey(int column);
    /// Whether the column is sorted by numbers, and the number of a row. These are faster than data(): ten
    /// thousand rows are sorted whenever results arrive, and data() would take longer than a frame.
    static bool isNumeric(int column);
    std::optional<double> sortNumber(int row, int column) const;
    TaskMetric gainMetric() const;
    /// Returns whether the layer is quantized or could be quantized; true for all rows if there is no such
    /// layer.
    bool isQuantizable(int row) const;
    /// Returns whether the text occurs in a name of the row's layer (LayerNames::matches).
    bool hasName(int row, const QString& text) const;
    /// Returns whether the pattern matches the row's layer.
    bool matches(int row, const NamePattern& pattern) const;

  private:
    void update();
    /// Returns null as long as there are no results of a new model.
    const LayerResult* layerAt(int row) const;
    QVariant display(const LayerResult& layer, int column, std::size_t row) const;
    static std::optional<Metric> metricOf(int column);
    std::optional<double> valueOf(const LayerResult& layer, Metric metric) const;
    QString latencyHint(const LayerResult& layer) const;

    Document* m_document;
    std::size_t m_rows = 0;
    bool m_stale = false;
    bool m_anyQuantizable = false;
};

}  // namespace quantloupe::ui
