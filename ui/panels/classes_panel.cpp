// SPDX-License-Identifier: Apache-2.0
#include "panels/classes_panel.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "analysis/task_metrics.h"
#include "document/metric.h"
#include "models/headline.h"
#include "style/theme.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

constexpr double kNameSize = 0.85;  // relative to the window's font
constexpr int kMostRows = 1000;     // of the largest matrix that is drawn
constexpr int kCompactRows = 14;    // a panel that is less high, in lines of text, has room for cells only

/// The texts of kLabelUnits, for translators.
[[maybe_unused]] constexpr const char* kUnitTexts[] = {
    QT_TRANSLATE_NOOP("Words", "tokens"),   QT_TRANSLATE_NOOP("Words", "boxes"),
    QT_TRANSLATE_NOOP("Words", "pixels"),   QT_TRANSLATE_NOOP("Words", "accuracy"),
    QT_TRANSLATE_NOOP("Words", "AP@50:95"), QT_TRANSLATE_NOOP("Words", "IoU")};

/// Sorts by the value instead of the text.
class NumberItem : public QTableWidgetItem {
  public:
    NumberItem(const QString& text, double value) : QTableWidgetItem(text), m_value(value) {
        setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled);
    }
    bool operator<(const QTableWidgetItem& other) const override {
        const auto* number = dynamic_cast<const NumberItem*>(&other);
        return number != nullptr ? m_value < number->m_value : QTableWidgetItem::operator<(other);
    }

  private:
    double m_value;
};

}  // namespace

ConfusionView::ConfusionView(QWidget* parent) : QWidget(parent) {
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Confusion matrix"));
}

void ConfusionView::setCells(std::vector<ConfusionCell> cells, const std::vector<QString>& names,
                             const QString& things) {
    m_cells = std::move(cells);
    m_names = names;
    m_things = things;
    m_places.clear();
    m_rowSums.clear();
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        m_places[{m_cells[i].label, m_cells[i].predicted}] = i;
        m_rowSums[m_cells[i].label] += m_cells[i].quantized.size();
    }
    updateGeometry();
    update();
}

void ConfusionView::setCompact(bool compact) {
    m_compact = compact;
    resize(sizeHint());
    update();
}

const ConfusionCell* ConfusionView::cell(std::int32_t label, std::int32_t predicted) const {
    const auto found = m_places.find({label, predicted});
    return found == m_places.end() ? nullptr : &m_cells[found->second];
}

int ConfusionView::side() const {
    const int unit = fontMetrics().height();
    return m_names.size() <= 20 ? unit * 7 / 5 : m_names.size() <= 100 ? unit / 2 : 4;
}

QSize ConfusionView::sizeHint() const {
    const int extent = static_cast<int>(std::min<std::size_t>(m_names.size(), kMostRows)) * side() + 1;
    return {origin().x() + extent, origin().y() + extent};
}

QPoint ConfusionView::origin() const {
    if (!isNamed()) return {};
    const QFontMetrics metrics(scaledFont(font(), kNameSize));
    int widest = 0;
    for (const QString& name : m_names) widest = std::max(widest, metrics.horizontalAdvance(name));
    const int room = std::min(widest, fontMetrics().height() * (m_compact ? 3 : 7)) + metrics.height() / 2;
    return {room, room};
}

/// Paints the class names at the matrix; those of the columns read upwards.
void ConfusionView::paintNames(QPainter& painter) const {
    const Theme& colors = themeOf(palette());
    const QFont small = scaledFont(font(), kNameSize);
    const QFontMetrics metrics(small);
    painter.setFont(small);
    painter.setPen(colors.muted);
    const int size = side(), room = origin().x(), gap = metrics.height() / 4;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        const QString name = metrics.elidedText(m_names[i], Qt::ElideRight, room - 2 * gap);
        const int from = room + static_cast<int>(i) * size;
        painter.drawText(QRect(0, from, room - gap, size), Qt::AlignRight | Qt::AlignVCenter, name);
        painter.save();
        painter.translate(from, room - gap);
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, room, size), Qt::AlignLeft | Qt::AlignVCenter, name);
        painter.restore();
    }
}

const ConfusionCell* ConfusionView::cellAt(QPointF at) const {
    const QPointF inside = at - QPointF(origin());
    if (inside.x() < 0 || inside.y() < 0) return nullptr;
    return cell(static_cast<std::int32_t>(inside.y() / side()),
                static_cast<std::int32_t>(inside.x() / side()));
}

void ConfusionView::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    const int size = side();
    const bool numbers = size > fontMetrics().height();
    if (isNamed()) paintNames(painter);
    painter.setFont(scaledFont(font(), 0.8));
    painter.fillRect(QRect(origin(), QPoint(sizeHint().width(), sizeHint().height()) - QPoint(1, 1)),
                     colors.soft);
    for (const ConfusionCell& cell : m_cells) {
        const QRect place(origin() + QPoint(cell.predicted * size, cell.label * size), QSize(size, size));
        const std::size_t count = cell.quantized.size();
        const double share =
            static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(1, m_rowSums[cell.label]));
        const bool right = cell.label == cell.predicted;
        const QColor fill =
            blended(right ? colors.good : colors.error, colors.panel, std::min(1.0, 0.08 + 0.6 * share));
        if (count > 0) painter.fillRect(place.adjusted(0, 0, -1, -1), fill);
        if (!right && cell.quantized.size() > cell.floating.size()) {
            painter.setPen(colors.error);
            painter.drawRect(place.adjusted(0, 0, -2, -2));
        }
        if (numbers && count > 0) {
            painter.setPen(colors.text);
            painter.drawText(place, Qt::AlignCenter, QString::number(count));
        }
    }
}

QString ConfusionView::describe(const ConfusionCell& cell) const {
    const auto name = [&](std::int32_t index) {
        const auto i = static_cast<std::size_t>(index);
        return i < m_names.size() ? m_names[i] : QString::number(index);
    };
    return tr("%1 predicted as %2").arg(name(cell.label), name(cell.predicted));
}

void ConfusionView::mouseReleaseEvent(QMouseEvent* event) {
    if (const ConfusionCell* cell = cellAt(event->position()))
        Q_EMIT cellClicked(cell->label, cell->predicted);
}

bool ConfusionView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const ConfusionCell* cell = cellAt(help->pos()))
            QToolTip::showText(help->globalPos(),
                               tr("%1: %2 %3 quantized, %4 in float. Click to see them")
                                   .arg(describe(*cell))
                                   .arg(cell->quantized.size())
                                   .arg(m_things)
                                   .arg(cell->floating.size()),
                               this);
        return true;
    }
    return QWidget::event(event);
}

ClassesPanel::ClassesPanel(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    m_summary = new ElidedLabel({}, Qt::ElideRight);
    m_summary->setProperty("role", QStringLiteral("muted"));
    m_table = new QTableWidget(0, 5);
    m_table->setSortingEnabled(true);
    m_table->verticalHeader()->hide();
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setAccessibleName(tr("Results of each class"));
    m_confusion = new ConfusionView;
    m_scroll = new QScrollArea;
    m_scroll->setWidget(m_confusion);
    m_scroll->setWidgetResizable(false);
    for (QWidget* clear : {static_cast<QWidget*>(m_confusion), m_scroll->viewport()})
        clear->setAutoFillBackground(false);  // that of the panel shows
    m_scroll->setFrameShape(QFrame::NoFrame);
    auto* frame = new QFrame;
    frame->setObjectName(QStringLiteral("panel"));
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(unit, unit / 2, unit, unit / 2);
    column->addWidget(m_summary);
    auto* row = new QHBoxLayout;
    row->addWidget(m_table, 1);
    row->addWidget(m_scroll, 1);
    column->addLayout(row, 1);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSizeConstraint(QLayout::SetNoConstraint);
    outer->addWidget(frame);
    connect(document, &Document::evaluationChanged, this, &ClassesPanel::refresh);
    connect(m_confusion, &ConfusionView::cellClicked, this, [this](int label, int predicted) {
        const ConfusionCell* cell = m_confusion->cell(label, predicted);
        if (cell == nullptr || !m_shown) return;
        std::vector<std::size_t> samples = cell->quantized;
        samples.insert(samples.end(), cell->floating.begin(), cell->floating.end());
        std::sort(samples.begin(), samples.end());
        samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
        Q_EMIT samplesChosen(tr("%1 predicted as %2, quantized or in float")
                                 .arg(QString::fromStdString(classNameOf(*m_shown, label)),
                                      QString::fromStdString(classNameOf(*m_shown, predicted))),
                             samples);
    });
    refresh();
}

/// Makes the table wide enough for its columns, and leaves the rest to the matrix, which scrolls. In a narrow
/// panel, the table only has the columns that the matrix does not show.
void ClassesPanel::fitContent() {
    const bool matrix = !m_scroll->isHidden();
    const bool compact = height() < fontMetrics().height() * kCompactRows;
    m_confusion->setCompact(compact);
    m_summary->setVisible(!compact || !matrix);
    const QAbstractItemView* cells = m_table;
    const QHeaderView* header = m_table->horizontalHeader();
    const int unit = fontMetrics().height();
    const int names = m_table->verticalScrollBar()->sizeHint().width() +
                      std::max(header->sectionSizeHint(0), std::min(m_longestName + unit, unit * 8));
    for (std::size_t c = 1; c < m_widths.size(); ++c) {
        const int column = static_cast<int>(c);
        if (m_table->isColumnHidden(column)) continue;  // its hints are 0
        m_widths[c] = std::max(header->sectionSizeHint(column), cells->sizeHintForColumn(column));
    }
    const auto widthOf = [&](std::initializer_list<std::size_t> columns) {
        int sum = names;
        for (const std::size_t column : columns) sum += m_widths[column];
        return sum;
    };
    const int all = widthOf({1, 2, 3, 4});
    const bool narrow = matrix && all + m_confusion->sizeHint().width() > width();
    for (const int column : {1, 2}) m_table->setColumnHidden(column, narrow);
    m_table->setMinimumWidth(narrow ? widthOf({3, 4}) : all);
    m_table->setMaximumWidth(narrow ? m_table->minimumWidth() : QWIDGETSIZE_MAX);
}

void ClassesPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitContent();
}

void ClassesPanel::refresh() {
    m_shown = m_document->evaluation();
    const ClassResults results = m_shown ? classResults(*m_shown) : ClassResults{};
    m_table->setVisible(!results.classes.empty());
    if (results.classes.empty()) {
        m_scroll->hide();
        m_summary->setFullText(!m_document->hasModel()
                                   ? tr("Open a model and labeled data to see the result of each class.")
                                   : tr("The data has no labels. Labels are set in the tuning panel under "
                                        "Data."));
        return;
    }
    const LabelUnitTraits& unit = traitsOf(results.unit);
    const QString metric = Words::tr(unit.metricTitle);
    const QString things = samplesWord(m_document->dataKind());
    const QString labels = results.unit == LabelUnit::Samples ? things : Words::tr(unit.title);
    m_table->setSortingEnabled(false);
    m_table->setHorizontalHeaderLabels({tr("class"), labels, tr("float"), tr("quantized"), tr("points")});
    for (const int column : {2, 3}) m_table->horizontalHeaderItem(column)->setToolTip(metric);
    m_table->setRowCount(static_cast<int>(results.classes.size()));
    m_longestName = 0;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const ClassResult& result = results.classes[static_cast<std::size_t>(row)];
        const QString name = QString::fromStdString(result.name);
        m_longestName = std::max(m_longestName, m_table->fontMetrics().horizontalAdvance(name));
        m_table->setItem(row, 0, new QTableWidgetItem(name));
        m_table->setItem(row, 1,
                         new NumberItem(formatNumber(result.labels), static_cast<double>(result.labels)));
        m_table->setItem(row, 2, new NumberItem(formatRate(result.floating), result.floating));
        m_table->setItem(row, 3, new NumberItem(formatRate(result.quantized), result.quantized));
        m_table->setItem(row, 4, new NumberItem(formatPoints(result.change()), result.change()));
    }
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(4, Qt::AscendingOrder);  // the largest loss first
    std::vector<ConfusionCell> cells = confusionCells(*m_shown);
    std::erase_if(cells, [](const ConfusionCell& cell) { return cell.predicted == kNoClass; });
    std::int32_t most = -1;
    for (const ConfusionCell& cell : cells) most = std::max({most, cell.label, cell.predicted});
    m_scroll->setVisible(!cells.empty() && most < kMostRows);
    std::vector<QString> names;
    for (std::int32_t index = 0; index <= most; ++index)
        names.push_back(QString::fromStdString(classNameOf(*m_shown, index)));
    const QString order = tr("Classes by %1, largest loss first.").arg(metric);
    const bool old = m_document->accuracyStale() && !m_document->evaluating();
    m_summary->setFullText(
        (old ? tr("For the previous configuration. ") : QString()) +
        (cells.empty() ? order
                       : tr("Rows: labels. Columns: predictions of the quantized network. Click a cell to "
                            "see its %1.")
                             .arg(things)));
    m_summary->setToolTip(
        cells.empty()
            ? order
            : order + tr(" Confusion matrix: labels (rows) by predicted classes (columns), quantized; "
                         "confusions that quantization adds are outlined. Click a cell to see its %1.")
                          .arg(things));
    m_confusion->setCells(std::move(cells), names, things);
    fitContent();
}

}  // namespace quantloupe::ui
