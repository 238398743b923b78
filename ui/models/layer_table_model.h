// SPDX-License-Identifier: Apache-2.0
#pragma once
// All layers as a table in graph order. LayerFilter sorts and filters the rows.

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <memory>
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
    static const char* columnKey(int column);
    /// Whether the column is sorted by numbers, and the number of a row. These are faster than data(): ten
    /// thousand rows are sorted whenever results arrive, and data() would take longer than a frame.
    static bool isNumeric(int column);
    std::optional<double> sortNumber(int row, int column) const;
    std::string fullName(int row) const;
    /// Returns whether the layer is quantized or could be quantized; true for all rows if there is no such
    /// layer.
    bool isQuantizable(int row) const;
    /// Returns whether the text occurs in a name of the row's layer (LayerNames::matches).
    bool hasName(int row, const QString& text) const;

  private:
    void update();
    /// Returns null as long as there are no results of a new model.
    const LayerResult* layerAt(int row) const;
    QVariant display(const LayerResult& layer, int column, std::size_t row) const;
    QVariant sortKey(const LayerResult& layer, int column, std::size_t row) const;
    static std::optional<Metric> metricOf(int column);
    std::optional<double> valueOf(const LayerResult& layer, Metric metric) const;
    QString latencyHint(const LayerResult& layer) const;

    Document* m_document;
    std::size_t m_rows = 0;
    bool m_stale = false;
    bool m_anyQuantizable = false;
};

/// Words must all occur in name, type, state or reason; "op:Conv", "state:skipped" and "qs>0.2" (also <, >=,
/// <=, for qs, local, weight, cumulative, loo, cosine, sqnr, macs, weights, ms) narrow further; "re:" or
/// slashes begin a regular expression on the name; "-" before a term turns it round. Rows without a number
/// sort last in both directions. Layers that cannot be quantized are left out if setShowAll(false), unless a
/// term asks for an operator or a state.
class LayerFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit LayerFilter(QObject* parent = nullptr);
    void setFilter(const QString& text);
    void setShowAll(bool all);
    bool showsAll() const { return m_showAll; }
    /// Whether there are filter terms, and whether they match a row of the source model.
    bool hasTerms() const { return !m_terms.isEmpty(); }
    bool matchesTerms(int row) const;
    /// Describes the invalid part of the text; empty if the text is valid.
    QString complaint() const { return m_complaint; }

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    struct Term {
        int column = -1;  ///< -1: any
        QString text;
        QChar relation;  ///< '<' or '>', with a number
        bool orEqual = false, inverted = false;
        double number = 0;
        std::shared_ptr<const NamePattern> pattern;  ///< on the name; null: none
    };
    bool accepts(const Term& term, int row, const QModelIndex& parent) const;
    /// Returns nothing for an invalid term; complaint() then says why.
    std::optional<Term> read(const QString& word);
    std::optional<Term> readComparison(const QString& word);
    QList<Term> m_terms;
    QString m_complaint;
    bool m_showAll = true;
};

}  // namespace quantloupe::ui
