// SPDX-License-Identifier: Apache-2.0
#include "panels/tune_curve.h"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>

#include "document/metric.h"
#include "models/tune_words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr int kMaxRows = 6;                     // visible without scrolling
constexpr std::size_t kKeptEntries = 1u << 20;  // plot entries from here on belong to the kept front
constexpr std::size_t kNamed = 12;              // layers in a tool tip
enum TuneColumn { kLayersColumn, kCostColumn, kMetricColumn, kDropColumn, kTuneColumns };

}  // namespace

TuneCurve::TuneCurve(std::function<QString(const std::string&)> shortName, QWidget* parent)
    : QWidget(parent), m_shortName(std::move(shortName)) {
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 3);
    m_plot = new TradeOffPlot;
    m_plot->setFixedHeight(unit * 11);
    m_table = new QTableWidget(0, kTuneColumns);
    m_table->setAccessibleName(tr("Evaluated choices of precisions"));
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
    for (const TuneColumn column : {kCostColumn, kMetricColumn, kDropColumn})
        m_table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setMinimumSectionSize(unit * 2);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_take = new QPushButton(tr("Apply"));
    m_take->setToolTip(tr("Gives each layer the precision in the selected row, as a single undo step"));
    m_keep = makeLink({}, tr("Keeps this curve in the plot for comparison with the next search, for example "
                             "with equalization"));
    rows->addWidget(m_plot);
    rows->addWidget(m_table);
    auto* line = new QHBoxLayout;
    line->addWidget(m_keep);
    line->addStretch(1);
    line->addWidget(m_take);
    rows->addLayout(line);
    const auto take = [this](int row) {
        if (row >= 0 && std::size_t(row) < m_result.curve.size())
            Q_EMIT taken(m_result.curve[std::size_t(row)]);
    };
    connect(m_plot, &TradeOffPlot::chosen, this, [this](std::size_t entry) {
        if (const TunePoint* point = pointOf(entry)) Q_EMIT taken(*point);
    });
    connect(m_plot, &TradeOffPlot::hovered, this,
            [this](std::optional<std::size_t> entry) { Q_EMIT pointed(entry ? pointOf(*entry) : nullptr); });
    connect(m_plot, &TradeOffPlot::limitDragged, this, &TuneCurve::limitDragged);
    connect(m_table, &QTableWidget::activated, this, [take](const QModelIndex& index) { take(index.row()); });
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &TuneCurve::refreshButtons);
    connect(m_take, &QPushButton::clicked, this, [this, take] { take(m_table->currentRow()); });
    connect(m_keep, &QPushButton::clicked, this, &TuneCurve::keepToggled);
}

void TuneCurve::setResult(const TuneResult& result) {
    m_result = result;
    fillTable();
    fillPlot();
    refreshButtons();
}

void TuneCurve::setCurrent(const QuantizationConfig& config) {
    m_current = config;
    fillPlot();
    refreshButtons();
}

void TuneCurve::setKept(const std::optional<TuneResult>& kept, const QString& title) {
    m_kept = kept;
    m_keptTitle = title;
    fillPlot();
    refreshButtons();
}

bool TuneCurve::keptFits() const {
    return m_kept &&
           (m_result.curve.empty() || (m_kept->cost == m_result.cost && m_kept->metric == m_result.metric));
}

QString TuneCurve::whyKeptIsHidden() const {
    if (!m_kept || keptFits()) return {};
    return tr("The kept curve (%1) is not shown because it has another cost or metric.").arg(m_keptTitle);
}

const TunePoint* TuneCurve::pointOf(std::size_t entry) const {
    const bool kept = entry >= kKeptEntries;
    if (kept && !m_kept) return nullptr;
    const auto& curve = kept ? m_kept->curve : m_result.curve;
    const std::size_t index = kept ? entry - kKeptEntries : entry;
    return index < curve.size() ? &curve[index] : nullptr;
}

int TuneCurve::digitsOf(const TuneResult& result) const {
    std::vector<double> amounts;
    for (const TunePoint& point : result.curve) amounts.push_back(point.amount);
    return digitsToTellApart(result.cost, std::move(amounts));
}

/// The result, and the layers of each precision except the most frequent one.
QString TuneCurve::toolTipOf(const TuneResult& result, const TunePoint& point) const {
    QStringList lines;
    QString head = taskMetricText(result.metric, point.metric);
    if (!countsFloat(result.cost))
        head += QStringLiteral(", ") + amountText(result.cost, point.amount, digitsOf(result));
    lines << tr("%1, %2 layers in float").arg(head).arg(point.layers.size());
    if (point.dropInterval)
        lines << tr("drop: %1 to %2 points (95 %)")
                     .arg(formatDecimal(100 * point.dropInterval->low, 1),
                          formatDecimal(100 * point.dropInterval->high, 1));
    if (!point.transforms.empty()) lines << QString::fromStdString(point.transforms);
    std::map<Precision, QStringList> layers;
    for (const auto& [name, precision] : point.precisions) layers[precision] << m_shortName(name);
    const auto most = std::ranges::max_element(layers, {}, [](const auto& one) { return one.second.size(); });
    for (const auto& [precision, names] : layers) {
        const QString title = QString::fromStdString(precisionName(precision));
        if (&names == &most->second && layers.size() > 1) {
            lines << tr("%1: the other %2 layers").arg(title).arg(names.size());
            continue;
        }
        if (layers.size() == 1) {
            lines << tr("%1: all layers").arg(title);
            continue;
        }
        QString text = names.first(std::min<qsizetype>(kNamed, names.size())).join(QStringLiteral(", "));
        if (names.size() > qsizetype(kNamed))
            text += tr(" and %1 more").arg(names.size() - qsizetype(kNamed));
        lines << tr("%1: %2").arg(title, text);
    }
    lines << tr("%1 tensors change between float and integers").arg(point.transitions);
    return lines.join(QLatin1Char('\n'));
}

void TuneCurve::fillTable() {
    const QSignalBlocker quiet(m_table);
    const QString cost = m_result.cost == TuneCost::Parameters      ? tr("parameters")
                         : m_result.cost == TuneCost::Milliseconds  ? tr("ms")
                         : m_result.cost == TuneCost::Bytes         ? tr("bytes")
                         : m_result.cost == TuneCost::BitOperations ? tr("bit ops")
                                                                    : tr("MACs");
    m_table->setHorizontalHeaderLabels({tr("in float"), cost, tuneMetricTitle(m_result), tr("drop")});
    m_table->horizontalHeaderItem(kLayersColumn)
        ->setToolTip(
            tr("Layers that the search keeps in float, in addition to those that were in float before"));
    m_table->setRowCount(int(m_result.curve.size()));
    const int digits = digitsOf(m_result);
    for (std::size_t p = 0; p < m_result.curve.size(); ++p) {
        const TunePoint& point = m_result.curve[p];
        const bool macs = m_result.cost == TuneCost::Macs || m_result.cost == TuneCost::Layers;
        const double share = macs && m_result.quantized.macsKnown && m_result.quantized.macs > 0
                                 ? double(point.cost.macs) / double(m_result.quantized.macs)
                                 : costOnAxis(m_result, point.amount) / 100;
        const QString texts[kTuneColumns] = {
            QString::number(point.layers.size()),
            countsFloat(m_result.cost) ? formatRate(share) : amountText(m_result.cost, point.amount, digits),
            taskMetricText(m_result.metric, point.metric), dropText(m_result.metric, point.drop)};
        for (int column = 0; column < kTuneColumns; ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            item->setToolTip(toolTipOf(m_result, point));
            m_table->setItem(int(p), column, item);
        }
    }
    m_table->selectRow(int(m_result.chosen));
    const int shown = std::min(kMaxRows, m_table->rowCount());
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() +
                            shown * m_table->verticalHeader()->defaultSectionSize() + 2);
}

void TuneCurve::fillPlot() {
    const auto points = [this](const TuneResult& result, std::size_t firstEntry) {
        std::vector<TradeOffPoint> list;
        for (std::size_t p = 0; p < result.curve.size(); ++p) {
            const TunePoint& point = result.curve[p];
            if (!std::isfinite(point.metric)) continue;
            list.push_back({costOnAxis(result, point.amount), metricOnAxis(result, point.metric),
                            toolTipOf(result, point), point.config == m_current,
                            firstEntry == 0 && p == result.chosen, firstEntry + p});
        }
        return list;
    };
    std::optional<TradeOffLimit> limit;
    if (m_result.budget)
        limit = {Qt::Vertical, costOnAxis(m_result, *m_result.budget)};
    else if (const auto target = targetOnAxis(m_result))
        limit = {Qt::Horizontal, *target};
    m_plot->setPoints(points(m_result, 0), costAxisTitle(m_result), valuesOnAxis(m_result),
                      [result = m_result, digits = digitsOf(m_result)](double place) {
                          return costAxisText(result, place, digits);
                      });
    m_plot->setOther(keptFits() ? points(*m_kept, kKeptEntries) : std::vector<TradeOffPoint>(), m_keptTitle);
    m_plot->setLimit(limit);
}

void TuneCurve::refreshButtons() {
    const int row = m_table->currentRow();
    m_take->setEnabled(row >= 0 && std::size_t(row) < m_result.curve.size() &&
                       m_result.curve[std::size_t(row)].config != m_current);
    m_keep->setText(m_kept ? tr("Remove the Kept Curve") : tr("Keep to Compare"));
}

}  // namespace quantloupe::ui
