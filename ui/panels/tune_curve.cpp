// SPDX-License-Identifier: Apache-2.0
#include "panels/tune_curve.h"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "document/metric.h"

namespace quantloupe::ui {

namespace {

constexpr int kMaxRows = 6;  // that are seen without scrolling
enum TuneColumn { kLayersColumn, kCostColumn, kMetricColumn, kDropColumn, kTuneColumns };

double shareOf(const FloatShare& part, const FloatShare& whole, TuneCost cost) {
    const auto share = [](std::uint64_t some, std::uint64_t all) {
        return all == 0 ? 0.0 : 100.0 * double(some) / double(all);
    };
    return cost == TuneCost::Parameters || !whole.macsKnown ? share(part.parameters, whole.parameters)
                                                            : share(part.macs, whole.macs);
}

}  // namespace

QString tuneMetricText(const TuneResult& result, double metric) {
    if (result.metric != "sqnr_db") return formatRate(metric);
    return formatDecibel(metric);
}

TuneCurve::TuneCurve(QWidget* parent) : QWidget(parent) {
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 3);
    m_plot = new TradeOffPlot;
    m_plot->setFixedHeight(unit * 8);
    m_table = new QTableWidget(0, kTuneColumns);
    m_table->setAccessibleName(tr("Evaluated sets of float layers"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setTabKeyNavigation(false);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.5));
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setMinimumSectionSize(unit * 2);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_take = new QPushButton(tr("Apply"));
    m_take->setToolTip(tr("Keeps the layers of the selected row in float, as one step that can be undone"));
    rows->addWidget(m_plot);
    rows->addWidget(m_table);
    auto* line = new QHBoxLayout;
    line->addStretch(1);
    line->addWidget(m_take);
    rows->addLayout(line);
    connect(m_plot, &TradeOffPlot::chosen, this, &TuneCurve::taken);
    connect(m_table, &QTableWidget::activated, this,
            [this](const QModelIndex& index) { Q_EMIT taken(std::size_t(index.row())); });
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &TuneCurve::refreshButton);
    connect(m_take, &QPushButton::clicked, this,
            [this] { Q_EMIT taken(std::size_t(m_table->currentRow())); });
}

void TuneCurve::setResult(const TuneResult& result) {
    m_result = result;
    fillTable();
    fillPlot();
    refreshButton();
}

void TuneCurve::setCurrent(const QuantizationConfig& config) {
    m_current = config;
    fillPlot();
    refreshButton();
}

void TuneCurve::fillTable() {
    const QSignalBlocker quiet(m_table);
    const bool parameters = m_result.cost == TuneCost::Parameters;
    const QString metric = m_result.metric == "sqnr_db"     ? tr("SQNR")
                           : m_result.metric == "agreement" ? tr("agreement")
                           : m_result.metric == "map"       ? tr("mAP")
                           : m_result.metric == "miou"      ? tr("mIoU")
                                                            : tr("top-1");
    m_table->setHorizontalHeaderLabels(
        {tr("layers"), parameters ? tr("parameters") : tr("MACs"), metric, tr("drop")});
    m_table->setRowCount(int(m_result.curve.size()));
    for (std::size_t p = 0; p < m_result.curve.size(); ++p) {
        const TunePoint& point = m_result.curve[p];
        QStringList lines;
        if (!point.transforms.empty()) lines.append(QString::fromStdString(point.transforms));
        for (const std::string& name : point.layers) lines.append(QString::fromStdString(name));
        lines.append(tr("%1 tensors change between float and integers").arg(point.transitions));
        if (point.dropInterval)
            lines.append(tr("drop: %1 to %2 points (95 %)")
                             .arg(100 * point.dropInterval->low, 0, 'f', 1)
                             .arg(100 * point.dropInterval->high, 0, 'f', 1));
        const QString texts[kTuneColumns] = {
            QString::number(point.layers.size()),
            formatRate(shareOf(point.cost, m_result.quantized, m_result.cost) / 100),
            tuneMetricText(m_result, point.metric), QString::number(100 * point.drop, 'f', 1)};
        for (int column = 0; column < kTuneColumns; ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            item->setToolTip(lines.join(QLatin1Char('\n')));
            m_table->setItem(int(p), column, item);
        }
    }
    m_table->selectRow(int(m_result.chosen));
    const int shown = std::min(kMaxRows, m_table->rowCount());
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() +
                            shown * m_table->verticalHeader()->defaultSectionSize() + 2);
}

void TuneCurve::fillPlot() {
    std::vector<TradeOffPoint> points;
    const bool decibels = m_result.metric == "sqnr_db";
    for (std::size_t p = 0; p < m_result.curve.size(); ++p) {
        const TunePoint& point = m_result.curve[p];
        if (!std::isfinite(point.metric)) continue;
        const double cost = m_result.cost == TuneCost::Layers
                                ? double(point.cost.layers)
                                : shareOf(point.cost, m_result.quantized, m_result.cost);
        points.push_back({cost, decibels ? point.metric : 100 * point.metric,
                          tr("%1 layers in float, %2")
                              .arg(point.layers.size())
                              .arg(tuneMetricText(m_result, point.metric)),
                          point.config == m_current, p == m_result.chosen, p});
    }
    m_plot->setPoints(std::move(points),
                      m_result.cost == TuneCost::Macs         ? tr("MACs in float, %")
                      : m_result.cost == TuneCost::Parameters ? tr("parameters in float, %")
                                                              : tr("layers in float"),
                      decibels ? tr("SQNR, dB") : tr("accuracy, %"));
}

void TuneCurve::refreshButton() {
    const int row = m_table->currentRow();
    m_take->setEnabled(row >= 0 && std::size_t(row) < m_result.curve.size() &&
                       m_result.curve[std::size_t(row)].config != m_current);
}

}  // namespace quantloupe::ui
