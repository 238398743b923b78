// SPDX-License-Identifier: Apache-2.0
#include "panels/layer_table.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QScrollBar>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "interchange/reports/csv.h"
#include "panels/layer_delegate.h"
#include "panels/layer_view_menu.h"
#include "panels/range_view.h"
#include "results/layer_host.h"
#include "widgets/basics.h"
#include "widgets/merged_selection.h"

namespace quantloupe::ui {

LayerTable::LayerTable(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    m_model = new LayerTableModel(document, this);
    m_filter = new LayerFilter(this);
    m_filter->setSourceModel(m_model);
    m_filter->setShowAll(false);
    const int unit = fontMetrics().height();

    buildHead();

    m_view = new QTableView;
    // Before the selection model is connected, which deselects the rows.
    connect(m_filter, &LayerFilter::rowsAboutToBeRemoved, this, [this] { m_hiding = true; });
    connect(m_filter, &LayerFilter::rowsRemoved, this, [this] { m_hiding = false; });
    connect(m_filter, &LayerFilter::rowsInserted, this, &LayerTable::fromDocument, Qt::QueuedConnection);
    m_view->setModel(m_filter);
    m_view->setItemDelegate(new LayerDelegate(m_view));
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setTabKeyNavigation(false);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.55));
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setSectionsMovable(true);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(LayerTableModel::LocalQs, Qt::DescendingOrder);
    m_view->installEventFilter(this);
    m_view->viewport()->installEventFilter(this);
    m_view->setAccessibleName(tr("Layers"));

    m_nothing = makeLabel({}, "muted", 1);
    m_nothing->setWordWrap(true);
    m_nothing->setAlignment(Qt::AlignCenter);
    m_nothing->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* overlay = new QVBoxLayout(m_view->viewport());
    overlay->addWidget(m_nothing);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addWidget(m_complaint);
    m_rangeView = new RangeView(document, m_filter);
    m_pages = new QStackedWidget;
    m_pages->addWidget(m_view);
    m_pages->addWidget(m_rangeView);
    column->addWidget(m_pages, 1);
    sizeColumns();
    restoreColumns();
    QHeaderView* header = m_view->horizontalHeader();
    connect(header, &QHeaderView::sectionResized, this, [this](int section, int, int width) {
        if (!m_fitting && width > 0) m_columnWidths[static_cast<std::size_t>(section)] = width;
    });
    connect(header, &QHeaderView::sortIndicatorChanged, this, &LayerTable::fitColumns);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QHeaderView::customContextMenuRequested, this,
            [this, header](QPoint at) { showColumnMenu(header->mapToGlobal(at)); });
    m_viewMenu = new LayerViewMenu(this);
    connect(m_viewMenu, &LayerViewMenu::refused, document,
            [document](const QString& why) { document->say(MessageKind::Note, why); });

    // Another model has other layers; a model that is reloaded keeps its filter.
    connect(document, &Document::modelChanged, this, [this] {
        const LoadedModel* model = m_document->model();
        const std::filesystem::path path = model ? model->path : std::filesystem::path();
        if (std::exchange(m_filteredModel, path) != path) m_filterLine->clear();
    });
    connect(m_filterLine, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_syncing = true;  // rows that the filter hides stay selected in the document
        m_filter->setFilter(text);
        m_syncing = false;
        m_filterLine->setProperty("wrong", !m_filter->complaint().isEmpty());
        m_filterLine->setToolTip(m_filter->complaint());
        m_filterLine->style()->unpolish(m_filterLine);
        m_filterLine->style()->polish(m_filterLine);
        m_complaint->setFullText(m_filter->complaint());
        m_complaint->setVisible(!m_filter->complaint().isEmpty());
        fromDocument();
        updateCount();
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &LayerTable::toDocument);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &LayerTable::toDocument);
    connect(m_view, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        Q_EMIT activated(NodeId(static_cast<std::size_t>(m_filter->mapToSource(index).row())));
    });
    connect(m_view, &QTableView::customContextMenuRequested, this,
            [this](QPoint at) { Q_EMIT menuRequested(m_view->viewport()->mapToGlobal(at)); });
    connect(document, &Document::selectionChanged, this, &LayerTable::fromDocument);
    connect(document, &Document::layersChanged, this, &LayerTable::updateCount);
    connect(&document->latency(), &LayerLatency::changed, this, &LayerTable::fitColumns);
    connect(m_all, &QPushButton::toggled, this, [this](bool all) {
        m_syncing = true;  // as with the filter
        m_filter->setShowAll(all);
        m_all->setText(all ? tr("Quantizable Only") : tr("Show All"));
        fitHead();
        m_syncing = false;
        fromDocument();
        updateCount();
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &LayerTable::fromDocument);
    // New numbers change the order of the rows.
    connect(m_filter, &QAbstractItemModel::layoutAboutToBeChanged, this, [this] {
        const QModelIndex current = m_view->selectionModel()->currentIndex();
        m_currentInView =
            current.isValid() && m_view->viewport()->rect().intersects(m_view->visualRect(current));
    });
    connect(m_filter, &QAbstractItemModel::layoutChanged, this, [this] {
        if (m_currentInView) showCurrent();
    });
    updateCount();
}

void LayerTable::sizeColumns() {
    const int unit = fontMetrics().height();
    using Table = LayerTableModel;
    const std::pair<int, double> widths[] = {
        {Table::Number, 3.2},   {Table::Op, 6},     {Table::State, 6.8},      {Table::LocalQs, 6.2},
        {Table::WeightQs, 6.6}, {Table::Bits, 4},   {Table::CumulativeQs, 7}, {Table::LeaveOneOut, 7},
        {Table::Cosine, 5.2},   {Table::Sqnr, 6.6}, {Table::Macs, 5.2},       {Table::Parameters, 5.4},
        {Table::Latency, 6.4}};
    for (const auto& [section, width] : widths) {
        m_columnWidths[static_cast<std::size_t>(section)] = qRound(unit * width);
        m_view->setColumnWidth(section, qRound(unit * width));
    }
    m_view->horizontalHeader()->setMinimumSectionSize(unit * 2);
}

void LayerTable::updateCount() {
    const int all = m_model->rowCount(), seen = m_filter->rowCount();
    m_nothing->setVisible(all > 0 && seen == 0);
    int hidden = 0;
    for (int row = 0; row < all && !m_filter->showsAll(); ++row)
        hidden += !m_model->isQuantizable(row) && m_filter->matchesTerms(row);
    if (seen == 0)
        m_nothing->setText(
            hidden == 0 ? tr("No layer matches the filter")
            : hidden == 1
                ? tr("One layer matches, but it cannot be quantized. Show All lists it.")
                : tr("%1 layers match, but none of them can be quantized. Show All lists them.").arg(hidden));
    const auto text = [](int count) { return formatNumber(static_cast<std::size_t>(count)); };
    m_count->setText(all == 0      ? QString()
                     : seen == all ? text(all)
                                   : tr("%1 of %2").arg(text(seen), text(all)));
    m_count->setToolTip(tr("Number of visible layers, and of all layers"));
    fitHead();
    reportFiltered();
}

void LayerTable::reportFiltered() {
    NodeSet others;
    if (m_filter->hasTerms()) {
        const Graph& graph = *m_document->graph();
        const auto& layers = m_document->layers();
        others.assign(layers.size(), true);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            if (!m_filter->matchesTerms(static_cast<int>(i))) continue;
            others[i] = false;
        }
        // Nodes that run inside a matching layer belong to it.
        for (std::size_t i = 0; i < layers.size(); ++i) {
            if (others[i] && !layers[i].host.empty()) others[i] = others[hostOf(graph, layers, i)];
        }
    }
    if (others == m_others) return;
    m_others = std::move(others);
    Q_EMIT filtered(m_others);
}

std::vector<NodeId> LayerTable::shownLayers() const {
    std::vector<NodeId> layers;
    for (int row = 0; row < m_filter->rowCount(); ++row)
        layers.push_back(
            NodeId(static_cast<std::size_t>(m_filter->mapToSource(m_filter->index(row, 0)).row())));
    std::ranges::sort(layers);
    return layers;
}

/// From the filter line to the first row, or to the current one if it is shown.
void LayerTable::enterRows() {
    if (m_filter->rowCount() == 0) return;
    m_view->setFocus();
    if (!m_view->selectionModel()->selectedRows().isEmpty()) return;
    m_view->selectRow(0);
    m_view->scrollToTop();
}

void LayerTable::fromDocument() {
    if (m_syncing) return;
    m_syncing = true;
    const auto rowOf = [this](NodeId node) {
        if (!node.valid() || static_cast<int>(node.index()) >= m_model->rowCount()) return QModelIndex();
        return m_filter->mapFromSource(m_model->index(static_cast<int>(node.index()), LayerTableModel::Name));
    };
    QModelIndexList rows;
    for (const NodeId node : m_document->selection()) rows.append(rowOf(node));
    m_view->selectionModel()->select(mergedSelection(std::move(rows)),
                                     QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    const QModelIndex current = rowOf(m_document->current());
    m_view->selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    showCurrent();
    m_syncing = false;
}

/// Scrolls to the current row, unless the user is moving through the rows.
void LayerTable::showCurrent() {
    const QModelIndex current = m_view->selectionModel()->currentIndex();
    if (!current.isValid() || m_view->hasFocus()) return;
    const int left = m_view->horizontalScrollBar()->value();
    m_view->scrollTo(current);
    m_view->horizontalScrollBar()->setValue(left);
}

void LayerTable::toDocument() {
    if (m_syncing || m_hiding) return;
    std::vector<NodeId> nodes;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows())
        nodes.push_back(NodeId(static_cast<std::size_t>(m_filter->mapToSource(index).row())));
    std::ranges::sort(nodes);
    // The focus alone makes a row current; layers whose rows are hidden stay selected.
    const auto isShown = [this](NodeId node) {
        return m_filter->mapFromSource(m_model->index(static_cast<int>(node.index()), 0)).isValid();
    };
    if (nodes.empty() && std::ranges::none_of(m_document->selection(), isShown)) return;
    m_syncing = true;
    const QModelIndex row = m_view->currentIndex();
    NodeId current =
        row.isValid() ? NodeId(static_cast<std::size_t>(m_filter->mapToSource(row).row())) : NodeId();
    if (std::ranges::find(nodes, current) == nodes.end()) current = nodes.empty() ? NodeId() : nodes.front();
    m_document->select(std::move(nodes), current);
    m_syncing = false;
}

NodeId LayerTable::neighbor(int step) const {
    const int rows = m_filter->rowCount();
    if (rows == 0) return {};
    int row = step > 0 ? 0 : rows - 1;
    const NodeId current = m_document->current();
    if (current.valid() && static_cast<int>(current.index()) < m_model->rowCount()) {
        const QModelIndex here =
            m_filter->mapFromSource(m_model->index(static_cast<int>(current.index()), 0));
        if (here.isValid()) row = std::clamp(here.row() + step, 0, rows - 1);
    }
    return NodeId(static_cast<std::size_t>(m_filter->mapToSource(m_filter->index(row, 0)).row()));
}

QString LayerTable::asCsv() const {
    const auto quoted = [](const QString& text) {
        return QString::fromStdString(csvCell(text.toStdString()));
    };
    QString csv;
    for (int row = -1; row < m_filter->rowCount(); ++row) {
        bool first = true;
        for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
            if (!isWanted(column)) continue;
            if (!std::exchange(first, false)) csv += QLatin1Char(',');
            if (row < 0) {
                csv += quoted(m_model->headerData(column, Qt::Horizontal).toString());
                continue;
            }
            const QModelIndex cell = m_filter->index(row, column);
            const QVariant key = cell.data(LayerTableModel::SortRole);
            if (key.typeId() == QMetaType::Double)
                csv += QString::number(key.toDouble(), 'g', 9);
            else if (key.isValid())
                csv += quoted(key.toString());
        }
        csv += QLatin1Char('\n');
    }
    return csv;
}

bool LayerTable::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_head) {
        if (event->type() == QEvent::Resize) fitHead();
        return QWidget::eventFilter(watched, event);
    }
    if (m_view && watched == m_view->viewport()) {
        if (event->type() == QEvent::Resize) fitColumns();
        return QWidget::eventFilter(watched, event);
    }
    if (event->type() == QEvent::ShortcutOverride && watched == m_filterLine) {
        // The field takes the keys even if it has nothing to undo; then they are for the configuration.
        const auto* key = static_cast<QKeyEvent*>(event);
        return (key->matches(QKeySequence::Undo) && !m_filterLine->isUndoAvailable()) ||
               (key->matches(QKeySequence::Redo) && !m_filterLine->isRedoAvailable());
    }
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (watched == m_filterLine) {
            const bool enters =
                key->key() == Qt::Key_Down || key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
            if (enters) enterRows();
            return enters;
        }
        if (key->key() == Qt::Key_Space && key->modifiers() == Qt::NoModifier) {
            Q_EMIT toggleRequested();
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            if (m_document->current().valid()) Q_EMIT activated(m_document->current());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void LayerTable::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange && m_view) {
        m_view->verticalHeader()->setDefaultSectionSize(qRound(fontMetrics().height() * 1.55));
        sizeColumns();
        fitColumns();
    }
    QWidget::changeEvent(event);
}

}  // namespace quantloupe::ui
