// SPDX-License-Identifier: Apache-2.0
#include "panels/tensor_window.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>
#include <limits>

#include "style/theme.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

NumberTable* channelTable(const LayerInsight& insight, QObject* parent) {
    const QStringList heads = {Words::tr("before min"), Words::tr("before max"), Words::tr("factor"),
                               Words::tr("after min"),  Words::tr("after max"),  Words::tr("scale"),
                               Words::tr("QS weight"),  Words::tr("QS local"),   Words::tr("QS cumulative")};
    const auto cell = [channels = insight.details->channels, factors = insight.factors](int row, int column) {
        const auto index = static_cast<std::size_t>(row);
        const ChannelDetails& channel = channels[index];
        const auto qs = [](const std::optional<TensorDifference>& difference) {
            return difference ? difference->qs : kNone;
        };
        switch (column) {
            case 0:
                return channel.weightBefore ? double(channel.weightBefore->min) : kNone;
            case 1:
                return channel.weightBefore ? double(channel.weightBefore->max) : kNone;
            case 2:
                return index < factors.size() ? double(factors[index]) : kNone;
            case 3:
                return channel.weightAfter ? double(channel.weightAfter->min) : kNone;
            case 4:
                return channel.weightAfter ? double(channel.weightAfter->max) : kNone;
            case 5:
                return channel.weightScale.value_or(kNone);
            case 6:
                return qs(channel.weight);
            case 7:
                return qs(channel.local);
            default:
                return qs(channel.cumulative);
        }
    };
    return new NumberTable(heads, static_cast<int>(insight.details->channels.size()), cell, parent);
}

/// The first axis as rows, all others side by side.
NumberTable* weightTable(const ConstantPtr& weight, QObject* parent) {
    const auto rows = weight->dims().empty() ? std::int64_t(1) : weight->dims()[0];
    const auto columns = rows == 0 ? 0 : weight->size() / rows;
    QStringList heads;
    for (std::int64_t c = 0; c < columns; ++c) heads << QString::number(c);
    const auto cell = [weight, columns](int row, int column) {
        return static_cast<double>(weight->floats()[static_cast<std::size_t>(row * columns + column)]);
    };
    return new NumberTable(heads, static_cast<int>(rows), cell, parent);
}

}  // namespace

NumberTable::NumberTable(QStringList heads, int rows, std::function<double(int, int)> cell, QObject* parent)
    : QAbstractTableModel(parent), m_heads(std::move(heads)), m_rows(rows), m_cell(std::move(cell)) {}

int NumberTable::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }
int NumberTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_heads.size());
}

QVariant NumberTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    const double value = m_cell(index.row(), index.column());
    if (std::isnan(value)) return QStringLiteral("\u2013");
    return value != 0 && std::abs(value) < 1e-4 ? QString::number(value, 'e', 2)
                                                : QString::number(value, 'f', 5);
}

QVariant NumberTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    return orientation == Qt::Horizontal ? QVariant(m_heads.value(section)) : QVariant(section);
}

QString NumberTable::asCsv() const {
    QString csv = tr("channel,") + m_heads.join(QLatin1Char(',')) + QLatin1Char('\n');
    for (int row = 0; row < m_rows; ++row) {
        csv += QString::number(row);
        for (int column = 0; column < m_heads.size(); ++column) {
            const double value = m_cell(row, column);
            csv += QLatin1Char(',');
            if (!std::isnan(value)) csv += QString::number(value, 'g', 9);
        }
        csv += QLatin1Char('\n');
    }
    return csv;
}

TensorWindow::TensorWindow(const LayerInsight& insight, const QString& layer, QWidget* parent)
    : QDialog(parent) {
    const int unit = fontMetrics().height();
    setWindowTitle(tr("%1 \u2014 numbers").arg(layer));
    resizeWithinScreen(this, QSize(unit * 60, unit * 32));
    QStringList names{tr("Channels")};
    m_tables << channelTable(insight, this);
    const auto addWeights = [&](const ConstantPtr& weight, const QString& name) {
        if (!weight || weight->type() != DataType::Float32) return;
        m_tables << weightTable(weight, this);
        names << name;
    };
    addWeights(insight.before, tr("Weights before the transforms"));
    addWeights(insight.after, tr("Weights after the transforms"));
    auto* column = new QVBoxLayout(this);
    auto* top = new QHBoxLayout;
    auto* which = new SegmentedControl(names, false);
    which->setCurrentIndex(0);
    auto* copy = new QPushButton(tr("Copy as CSV"));
    top->addWidget(which);
    top->addStretch(1);
    top->addWidget(copy);
    column->addLayout(top);
    m_view = new QTableView;
    m_view->setFont(numberFont(font()));
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->horizontalHeader()->setDefaultSectionSize(unit * 6);
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.45));
    m_view->setAccessibleName(tr("Numbers of the layer"));
    column->addWidget(m_view, 1);
    showTable(0);
    connect(which, &SegmentedControl::chosen, this, &TensorWindow::showTable);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(asCsv()); });
}

void TensorWindow::showTable(int index) {
    if (index >= 0 && index < m_tables.size()) m_view->setModel(m_tables[index]);
}

QString TensorWindow::asCsv() const { return static_cast<const NumberTable*>(m_view->model())->asCsv(); }

}  // namespace quantloupe::ui
