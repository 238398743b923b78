// SPDX-License-Identifier: Apache-2.0
// The row above the layer table: filter, views, the switch between table and ranges, and the choice of
// columns. Columns are remembered by name.
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QSettings>

#include "panels/layer_table.h"
#include "panels/layer_view_menu.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {

const QString kHiddenKey = QStringLiteral("layerTable/hidden"),
              kOrderKey = QStringLiteral("layerTable/order");

QString columnName(const LayerTableModel& model, int column) {
    return model.headerData(column, Qt::Horizontal).toString();
}

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
    m_filterLine->setMinimumWidth(unit * 6);
    m_filterLine->setMaximumWidth(unit * 24);
    m_filterLine->setAccessibleName(tr("Filter the layers"));
    m_filterLine->installEventFilter(this);
    row->addWidget(m_filterLine, 8);
    m_complaint = new ElidedLabel({}, Qt::ElideRight);
    setRole(m_complaint, "bad");
    m_complaint->hide();
    row->addWidget(m_complaint, 10);
    row->addStretch(1);
    m_count = makeLabel({}, "faint", 0.9);
    row->addWidget(m_count);
    const auto link = [&](const QString& text, const QString& toolTip) {
        auto* button = new QPushButton(text);
        button->setProperty("link", true);
        button->setToolTip(toolTip);
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
    int needed = (row->count() - 2) * row->spacing();  // without the stretch
    needed += m_filterLine->minimumWidth() + m_all->sizeHint().width();
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
        QAction* action = menu->addAction(columnName(*m_model, column));
        action->setCheckable(true);
        action->setChecked(!isHidden(column));
        action->setEnabled(column != LayerTableModel::Latency || m_document->latency().table());
        connect(action, &QAction::toggled, this, [this, column](bool on) {
            setHidden(column, !on);
            saveColumns();
        });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("Reset Columns")), &QAction::triggered, this, [this] {
        QSettings().remove(kHiddenKey);
        QSettings().remove(kOrderKey);
        restoreColumns();
    });
    menu->popup(global);
}

void LayerTable::restoreColumns() {
    const QSettings settings;
    const QStringList hidden = settings.value(kHiddenKey, QStringList{tr("QS weight")}).toStringList();
    const QStringList order = settings.value(kOrderKey).toStringList();
    QHeaderView* header = m_view->horizontalHeader();
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        setHidden(column, hidden.contains(columnName(*m_model, column)));
        header->moveSection(header->visualIndex(column), column);
    }
    int place = 0;
    for (const QString& name : order)
        for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
            if (columnName(*m_model, column) == name)
                header->moveSection(header->visualIndex(column), place++);
    connect(header, &QHeaderView::sectionMoved, this, &LayerTable::saveColumns, Qt::UniqueConnection);
}

void LayerTable::saveColumns() const {
    QStringList hidden, order;
    const QHeaderView* header = m_view->horizontalHeader();
    for (int place = 0; place < LayerTableModel::ColumnCount; ++place) {
        const QString name = columnName(*m_model, header->logicalIndex(place));
        order << name;
        if (isHidden(header->logicalIndex(place))) hidden << name;
    }
    QSettings settings;
    settings.setValue(kHiddenKey, hidden);
    settings.setValue(kOrderKey, order);
}

/// Without a latency profile, there is nothing to show in its column, whatever the user has chosen.
void LayerTable::setHidden(int column, bool hidden) {
    const bool latency = column == LayerTableModel::Latency;
    if (latency) m_hidesLatency = hidden;
    m_view->setColumnHidden(column, hidden || (latency && !m_document->latency().table()));
}

bool LayerTable::isHidden(int column) const {
    return column == LayerTableModel::Latency ? m_hidesLatency : m_view->isColumnHidden(column);
}

QString LayerTable::columnTitle(int column) const { return columnName(*m_model, column); }

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
            setHidden(column, view.hidden->contains(column));
    else
        setHidden(view.column, false);  // shows the column by which the rows are sorted
    m_view->sortByColumn(view.column, view.order);
    m_view->scrollToTop();
    saveColumns();
}

}  // namespace quantloupe::ui
