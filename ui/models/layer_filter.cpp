// SPDX-License-Identifier: Apache-2.0
#include "models/layer_filter.h"

#include <QHash>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

namespace quantloupe::ui {

LayerFilter::LayerFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(LayerTableModel::SortRole);
    setDynamicSortFilter(true);
}

namespace {

const QHash<QString, int>& metricColumns() {
    static const QHash<QString, int> columns = {{QStringLiteral("qs"), LayerTableModel::LocalQs},
                                                {QStringLiteral("local"), LayerTableModel::LocalQs},
                                                {QStringLiteral("weight"), LayerTableModel::WeightQs},
                                                {QStringLiteral("cumulative"), LayerTableModel::CumulativeQs},
                                                {QStringLiteral("loo"), LayerTableModel::LeaveOneOut},
                                                {QStringLiteral("cosine"), LayerTableModel::Cosine},
                                                {QStringLiteral("sqnr"), LayerTableModel::Sqnr},
                                                {QStringLiteral("macs"), LayerTableModel::Macs},
                                                {QStringLiteral("weights"), LayerTableModel::Parameters},
                                                {QStringLiteral("ms"), LayerTableModel::Latency}};
    return columns;
}

bool isStateText(const QString& text) {
    for (const LayerState state : {LayerState::Quantized, LayerState::Skipped, LayerState::Float,
                                   LayerState::Folded, LayerState::Fused})
        if (stateText(state).contains(text, Qt::CaseInsensitive)) return true;
    return false;
}

}  // namespace

/// Reads a term such as "qs>0.2"; a term without a relation has no column. Sets the complaint for an
/// incomplete term.
std::optional<LayerFilter::Term> LayerFilter::readComparison(const QString& word) {
    static const QRegularExpression comparison(QStringLiteral("^([A-Za-z]+)([<>=])(=?)(.*)$"));
    Term term;
    const auto match = comparison.match(word);
    if (!match.hasMatch()) return term;
    const QString metric = match.captured(1).toLower(), relation = match.captured(2),
                  value = match.captured(4);
    const auto column = metricColumns().constFind(metric);
    if (column == metricColumns().constEnd()) {
        if (relation == QLatin1Char('=')) return term;  // a name may contain it
        QStringList known = metricColumns().keys();
        known.sort();
        m_complaint = tr("%1: there is no metric \u201c%2\u201d. The metrics are %3.")
                          .arg(word, metric, known.join(QStringLiteral(", ")));
        return std::nullopt;
    }
    bool isNumber = false;
    const double limit = value.toDouble(&isNumber);
    if (relation == QLatin1Char('=') || !isNumber) {
        m_complaint = tr("%1: a metric is compared with <, <=, > or >= and a number, for example %2>0.1.")
                          .arg(word, metric);
        return std::nullopt;
    }
    term.column = *column;
    term.relation = relation.front();
    term.orEqual = !match.captured(3).isEmpty();
    term.number = limit;
    return term;
}

std::optional<LayerFilter::Term> LayerFilter::read(const QString& whole) {
    const bool inverted = whole.size() > 1 && whole.startsWith(QLatin1Char('-'));
    const QString word = inverted ? whole.mid(1) : whole;
    const bool slashes =
        word.size() > 2 && word.startsWith(QLatin1Char('/')) && word.endsWith(QLatin1Char('/'));
    Term term;
    if (word.startsWith(QLatin1String("op:"), Qt::CaseInsensitive)) {
        term.column = LayerTableModel::Op;
        term.text = word.mid(3);
    } else if (word.startsWith(QLatin1String("state:"), Qt::CaseInsensitive)) {
        term.column = LayerTableModel::State;
        term.text = word.mid(6);
        if (!isStateText(term.text)) {
            m_complaint = tr("%1: a state is quantized, skipped, float, folded or fused.").arg(word);
            return std::nullopt;
        }
    } else if (slashes || word.startsWith(QLatin1String("re:"), Qt::CaseInsensitive)) {
        const QString pattern = slashes ? word.mid(1, word.size() - 2) : word.mid(3);
        try {
            term.pattern = std::make_shared<const NamePattern>(pattern.toStdString());
        } catch (const std::exception& error) {
            m_complaint = QString::fromUtf8(error.what());
            return std::nullopt;  // an incomplete term does not hide anything
        }
    } else {
        const auto compared = readComparison(word);
        if (!compared) return std::nullopt;
        term = *compared;
        if (term.column < 0) term.text = word;
    }
    term.inverted = inverted;
    return term;
}

void LayerFilter::setFilter(const QString& text) {
    m_terms.clear();
    m_complaint.clear();
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        if (const auto term = read(word)) m_terms.append(*term);
    invalidateFilter();
}

void LayerFilter::setShowAll(bool all) {
    m_showAll = all;
    invalidateFilter();
}

bool LayerFilter::accepts(const Term& term, int row, const QModelIndex& parent) const {
    const auto* layers = qobject_cast<const LayerTableModel*>(sourceModel());
    const auto text = [&](int column) { return sourceModel()->index(row, column, parent).data().toString(); };
    if (!term.relation.isNull()) {
        const QVariant value = sourceModel()->index(row, term.column, parent).data(LayerTableModel::SortRole);
        if (!value.isValid()) return false;
        // In the unit that the column shows.
        const bool points =
            term.column == LayerTableModel::LeaveOneOut && (!layers || traitsOf(layers->gainMetric()).rate);
        const double number = value.toDouble() * (points ? 100 : 1);
        return (term.orEqual && number == term.number) ||
               (term.relation == QLatin1Char('>') ? number > term.number : number < term.number);
    }
    if (term.pattern) return layers && layers->matches(row, *term.pattern);
    if (term.column == LayerTableModel::Op)  // "Mul" is not MatMul
        return text(term.column).compare(term.text, Qt::CaseInsensitive) == 0;
    if (term.column >= 0) return text(term.column).contains(term.text, Qt::CaseInsensitive);
    if (layers && layers->hasName(row, term.text)) return true;
    for (const int column : {LayerTableModel::Op, LayerTableModel::State, LayerTableModel::Reason})
        if (text(column).contains(term.text, Qt::CaseInsensitive)) return true;
    return false;
}

bool LayerFilter::matchesTerms(int row) const {
    return std::ranges::all_of(m_terms,
                               [&](const Term& term) { return accepts(term, row, {}) != term.inverted; });
}

bool LayerFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const auto* layers = qobject_cast<const LayerTableModel*>(sourceModel());
    const bool shown = m_showAll || !layers || layers->isQuantizable(row) ||
                       std::ranges::any_of(m_terms, [](const Term& term) {
                           return term.column == LayerTableModel::Op || term.column == LayerTableModel::State;
                       });
    return shown && matchesTerms(row);
}

bool LayerFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    if (const auto* rows = qobject_cast<const LayerTableModel*>(sourceModel());
        rows && LayerTableModel::isNumeric(left.column())) {
        const auto compare = [&](int column) {
            return std::pair(rows->sortNumber(left.row(), column), rows->sortNumber(right.row(), column));
        };
        const auto [a, b] = compare(left.column());
        if (a.has_value() != b.has_value()) return (sortOrder() == Qt::AscendingOrder) == a.has_value();
        if (a && *a != *b) return *a < *b;
        const auto [c, d] = compare(LayerTableModel::LocalQs);  // equal values: the more sensitive layer
        return c && d && *c < *d;
    }
    const QVariant a = left.data(LayerTableModel::SortRole), b = right.data(LayerTableModel::SortRole);
    if (a.isValid() != b.isValid()) return (sortOrder() == Qt::AscendingOrder) == a.isValid();
    if (a.typeId() == QMetaType::Double) return a.toDouble() < b.toDouble();
    if (a.typeId() == QMetaType::Int) return a.toInt() < b.toInt();
    return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
}

}  // namespace quantloupe::ui
