// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sorts and filters the rows of the layer table.

#include <QList>
#include <QSortFilterProxyModel>
#include <memory>
#include <optional>

#include "config/name_pattern.h"
#include "models/layer_table_model.h"

namespace quantloupe::ui {

/// Words must all occur in name, type, state or reason; "op:Conv", "state:skipped" and "qs>0.2" (also <, >=,
/// <=, for qs, local, weight, cumulative, loo, cosine, sqnr, macs, weights, ms) narrow further; "re:" or
/// slashes begin a regular expression on the name; "-" before a term negates it. Rows without a number sort
/// last in both directions. Layers that cannot be quantized are left out if setShowAll(false), unless a term
/// asks for an operator or a state.
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
    /// Returns nothing for an invalid term; complaint() then returns the reason.
    std::optional<Term> read(const QString& word);
    std::optional<Term> readComparison(const QString& word);
    QList<Term> m_terms;
    QString m_complaint;
    bool m_showAll = true;
};

}  // namespace quantloupe::ui
