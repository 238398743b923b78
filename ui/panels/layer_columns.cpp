// SPDX-License-Identifier: Apache-2.0
// The row above the layer table: filter, views, the switch between table and ranges, and the choice of
// columns. Columns are remembered by their keys. Columns that the user has not chosen are hidden while there
// is no room for them.
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <algorithm>
#include <array>

#include "panels/layer_table.h"
#include "panels/layer_view_menu.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

const QString kHiddenKey = QStringLiteral("layerTable/hidden"),
              kShownKey = QStringLiteral("layerTable/shown"), kOrderKey = QStringLiteral("layerTable/order");

/// In units of the font's height.
constexpr double kNarrowName = 9, kWideName = 20, kNarrowReason = 10;
constexpr int kFilterWidth = 9;  // controls are hidden before the filter is narrower

/// The columns that are hidden if there is no room, the least important first. The name, the state and the
/// sensitivities stay.
constexpr std::array kExpendable = {
    LayerTableModel::Reason, LayerTableModel::Number, LayerTableModel::Parameters, LayerTableModel::Macs,
    LayerTableModel::Cosine, LayerTableModel::Bits,   LayerTableModel::Sqnr,       LayerTableModel::Op};

}  // namespace

void LayerTable::buildHead() {
    const int unit = fontMetrics().height();
    m_head = new QWidget(this);
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(unit * 3 / 4);
    m_filterLine = new QLineEdit;
    m_filterLine->setPlaceholderText(tr("Filter: words, op:Conv, state:skipped, qs>0.2, /regex/"));
    m_filterLine->setClearButtonEnabled(true);
    m_filterLine->setMinimumWidth(unit * 5);
    m_filterLine->setMaximumWidth(unit * 24);
    m_filterLine->setAccessibleName(tr("Filter the layers"));
    m_filterLine->installEventFilter(this);
    row->addWidget(m_filterLine, 8);
    m_complaint = new ElidedLabel({}, Qt::ElideRight);
    m_complaint->setObjectName(QStringLiteral("filterProblem"));
    setRole(m_complaint, "bad");
    m_complaint->hide();
    row->addStretch(1);
    m_count = makeLabel({}, "faint", 0.9);
    row->addWidget(m_count);
    const auto link = [&](const QString& text, const QString& toolTip) {
        QPushButton* button = makeLink(text, toolTip);
        row->addWidget(button);
        return button;
    };
    m_all =
        link(tr("Show All"), tr("Also shows layers that cannot be quantized, or run inside another layer"));
    m_all->setCheckable(true);
    m_views =
        link(tr("Views"), tr("Filters with sort order and columns: choose one, or save the current one"));
    m_ranges = link(tr("Ranges"), tr("The range of each layer's weights and output on a power-of-two scale"));
    m_ranges->setCheckable(true);
    m_head->installEventFilter(this);
    m_columns = link(tr("Columns\u2026"), tr("Choose which columns are shown"));
    fitHead();
    connect(m_ranges, &QPushButton::toggled, this, &LayerTable::showRanges);
    connect(m_columns, &QPushButton::clicked, this,
            [this] { showColumnMenu(m_columns->mapToGlobal(QPoint(0, m_columns->height()))); });
    connect(m_views, &QPushButton::clicked, this,
            [this] { m_viewMenu->popup(m_views->mapToGlobal(QPoint(0, m_views->height()))); });
}

/// In a narrow window, controls are hidden so that nothing is cut off, first those that are also available
/// elsewhere (the columns in the menu of the header, the views in the View menu). Show All stays visible,
/// because it shows that rows are hidden.
void LayerTable::fitHead() {
    const QList<QWidget*> hideable{m_columns, m_views, m_count, m_ranges};
    const QLayout* row = m_head->layout();
    m_head->setMinimumWidth(m_filterLine->minimumWidth() + row->spacing() + m_all->sizeHint().width());
    int needed = (row->count() - 2) * row->spacing();  // without the stretch
    needed += fontMetrics().height() * kFilterWidth + m_all->sizeHint().width();
    for (const QWidget* part : hideable) needed += part->sizeHint().width();
    for (QWidget* part : hideable) {
        const bool fits = m_head->width() >= needed;
        part->setVisible(fits);
        if (!fits) needed -= part->sizeHint().width() + row->spacing();
    }
}

void LayerTable::showRanges(bool on) {
    m_ranges->setChecked(on);
    m_ranges->setText(on ? tr("Table") : tr("Ranges"));
    m_pages->setCurrentIndex(on ? 1 : 0);
}

void LayerTable::showColumnMenu(const QPoint& global) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        if (column == LayerTableModel::Name) continue;
        QAction* action = menu->addAction(columnTitle(column));
        action->setCheckable(true);
        action->setChecked(!isHidden(column));
        action->setEnabled(column != LayerTableModel::Latency || m_document->latency().table());
        connect(action, &QAction::toggled, this, [this, column](bool on) {
            chooseColumn(column, on);
            saveColumns();
        });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("Reset Columns")), &QAction::triggered, this, [this] {
        QSettings().remove(kHiddenKey);
        QSettings().remove(kShownKey);
        QSettings().remove(kOrderKey);
        restoreColumns();
    });
    menu->popup(global);
}

void LayerTable::restoreColumns() {
    const QSettings settings;
    const QStringList hidden =
        settings.value(kHiddenKey, QStringList{LayerTableModel::columnKey(LayerTableModel::WeightQs)})
            .toStringList();
    const QStringList shown = settings.value(kShownKey).toStringList();
    const QStringList order = settings.value(kOrderKey).toStringList();
    QHeaderView* header = m_view->horizontalHeader();
    m_hiddenColumns.clear();
    m_shownColumns.clear();
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        const QString key = LayerTableModel::columnKey(column);
        if (hidden.contains(key)) m_hiddenColumns.insert(column);
        if (shown.contains(key)) m_shownColumns.insert(column);
        header->moveSection(header->visualIndex(column), column);
    }
    fitColumns();
    int place = 0;
    for (const QString& key : order)
        for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
            if (LayerTableModel::columnKey(column) == key)
                header->moveSection(header->visualIndex(column), place++);
    connect(header, &QHeaderView::sectionMoved, this, &LayerTable::saveColumns, Qt::UniqueConnection);
}

void LayerTable::saveColumns() const {
    QStringList hidden, shown, order;
    const QHeaderView* header = m_view->horizontalHeader();
    for (int place = 0; place < LayerTableModel::ColumnCount; ++place) {
        const int column = header->logicalIndex(place);
        const QString key = LayerTableModel::columnKey(column);
        order << key;
        if (m_hiddenColumns.contains(column)) hidden << key;
        if (m_shownColumns.contains(column)) shown << key;
    }
    QSettings settings;
    settings.setValue(kHiddenKey, hidden);
    settings.setValue(kShownKey, shown);
    settings.setValue(kOrderKey, order);
}

/// Shows or hides a column, whatever the room.
void LayerTable::chooseColumn(int column, bool shown) {
    (shown ? m_shownColumns : m_hiddenColumns).insert(column);
    (shown ? m_hiddenColumns : m_shownColumns).remove(column);
    fitColumns();
}

/// Whether the column is shown if there is room. Without a latency profile, there is nothing to show in its
/// column, whatever the user has chosen.
bool LayerTable::isWanted(int column) const {
    return !m_hiddenColumns.contains(column) &&
           (column != LayerTableModel::Latency || m_document->latency().table() != nullptr);
}

/// Hides the least important columns if there is no room for all. The name and the reason share the rest.
void LayerTable::fitColumns() {
    using Table = LayerTableModel;
    QHeaderView* header = m_view->horizontalHeader();
    const int unit = fontMetrics().height(), narrow = qRound(unit * kNarrowName);
    const auto width = [&](int column) {
        return column == Table::Name     ? narrow
               : column == Table::Reason ? qRound(unit * kNarrowReason)
                                         : m_columnWidths[static_cast<std::size_t>(column)];
    };
    std::array<bool, Table::ColumnCount> shown{};
    int room = m_view->viewport()->width();
    for (int column = 0; column < Table::ColumnCount; ++column) {
        shown[static_cast<std::size_t>(column)] = isWanted(column);
        if (shown[static_cast<std::size_t>(column)]) room -= width(column);
    }
    for (const int column : kExpendable) {
        const bool chosen = m_shownColumns.contains(column) || column == header->sortIndicatorSection();
        if (room >= 0 || chosen || !shown[static_cast<std::size_t>(column)]) continue;
        shown[static_cast<std::size_t>(column)] = false;
        room += width(column);
    }
    m_fitting = true;
    for (int column = 0; column < Table::ColumnCount; ++column)
        m_view->setColumnHidden(column, !shown[static_cast<std::size_t>(column)]);
    header->setStretchLastSection(shown[Table::Reason]);
    const int most = shown[Table::Reason] ? qRound(unit * kWideName) : m_view->viewport()->width();
    m_view->setColumnWidth(Table::Name, std::clamp(narrow + room, narrow, std::max(narrow, most)));
    m_fitting = false;
}

/// A column that is chosen, but empty without a latency profile, is not hidden.
bool LayerTable::isHidden(int column) const {
    return column == LayerTableModel::Latency ? m_hiddenColumns.contains(column)
                                              : m_view->isColumnHidden(column);
}

QString LayerTable::columnTitle(int column) const {
    return m_model->headerData(column, Qt::Horizontal).toString();
}

LayerView LayerTable::present() const {
    const QHeaderView* header = m_view->horizontalHeader();
    LayerView view{{},
                   m_filterLine->text().simplified(),
                   header->sortIndicatorSection(),
                   header->sortIndicatorOrder(),
                   QList<int>(),
                   m_filter->showsAll()};
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
        if (isHidden(column)) view.hidden->append(column);
    return view;
}

void LayerTable::apply(const LayerView& view) {
    m_filterLine->setText(view.filter);
    m_all->setChecked(view.all);
    if (view.hidden)
        for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
            chooseColumn(column, !view.hidden->contains(column));
    else
        m_hiddenColumns.remove(view.column);  // shows the column by which the rows are sorted
    m_view->sortByColumn(view.column, view.order);
    fitColumns();
    m_view->scrollToTop();
    saveColumns();
}

}  // namespace quantloupe::ui
