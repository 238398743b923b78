// SPDX-License-Identifier: Apache-2.0
#include "panels/block_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "panels/block_delegate.h"
#include "widgets/basics.h"
#include "widgets/merged_selection.h"

namespace quantloupe::ui {

namespace {

/// Shortens headings that do not fit, which the style would cut off.
class RoleHeader : public QHeaderView {
  public:
    using QHeaderView::QHeaderView;

  protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
        QHeaderView::initStyleOptionForIndex(option, section);
        option->text = fontMetrics().elidedText(option->text, Qt::ElideMiddle,
                                                sectionSize(section) - fontMetrics().height() / 2);
    }
};

}  // namespace

BlockPanel::BlockPanel(Document* document, GraphCanvas* canvas, QWidget* parent)
    : QWidget(parent), m_document(document), m_canvas(canvas) {
    m_model = new BlockTableModel(document, canvas, this);
    buildHead();
    buildView();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_view);
    connect(document, &Document::modelChanged, this, &BlockPanel::findBlocks);
    connect(document, &Document::selectionChanged, this, &BlockPanel::followSelection);
    for (const auto signal : {&Document::layersChanged, &Document::evaluationChanged})
        connect(document, signal, m_model, &BlockTableModel::update);
    connect(canvas, &GraphCanvas::looksChanged, m_model, &BlockTableModel::update);
    connect(canvas, &GraphCanvas::metricChanged, this, [this] {
        updateNote();
        sizeCells();
    });
}

void BlockPanel::buildHead() {
    m_head = new QWidget(this);
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(fontMetrics().height() * 3 / 4);
    m_choice = new QComboBox;
    m_choice->setObjectName(QStringLiteral("blockChoice"));
    m_choice->setAccessibleName(tr("Repeated blocks"));
    m_choice->setToolTip(tr("Which of the repeated blocks of the network are shown"));
    row->addWidget(m_choice);
    m_note = new ElidedLabel({}, Qt::ElideRight);
    setRole(m_note, "faint");
    row->addWidget(m_note, 1);
    connect(m_choice, &QComboBox::activated, this, &BlockPanel::showMatrix);
}

void BlockPanel::buildView() {
    m_view = new QTableView;
    m_view->setHorizontalHeader(new RoleHeader(Qt::Horizontal));
    m_view->horizontalHeader()->setSectionsClickable(true);
    m_view->setObjectName(QStringLiteral("blockMatrix"));
    m_view->setModel(m_model);
    m_view->setItemDelegate(new BlockDelegate(m_view));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setShowGrid(false);
    m_view->setTabKeyNavigation(false);
    m_view->setMouseTracking(true);
    m_view->setCornerButtonEnabled(true);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_view->horizontalHeader()->setHighlightSections(true);
    m_view->setAccessibleName(tr("Layers of repeated blocks, a row for each block"));
    m_view->installEventFilter(this);
    m_view->viewport()->installEventFilter(this);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &BlockPanel::toDocument);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &BlockPanel::toDocument);
    connect(m_view, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (const NodeId layer = m_model->layerAt(index); layer.valid()) Q_EMIT activated(layer);
    });
    connect(m_view, &QTableView::customContextMenuRequested, this,
            [this](QPoint at) { Q_EMIT menuRequested(m_view->viewport()->mapToGlobal(at)); });
}

void BlockPanel::findBlocks() {
    const GraphPtr graph = m_document->graph();
    m_matrices = graph ? blockMatrices(*graph) : std::vector<BlockMatrix>();
    m_choice->clear();
    for (const BlockMatrix& matrix : m_matrices) m_choice->addItem(matrix.title);
    m_choice->setVisible(m_matrices.size() > 1);
    // First the matrix with the most layers.
    const auto largest = std::ranges::max_element(
        m_matrices, {}, [](const BlockMatrix& matrix) { return matrix.layers.size(); });
    showMatrix(static_cast<int>(largest - m_matrices.begin()));
    Q_EMIT blocksChanged();
}

void BlockPanel::showMatrix(int index) {
    const bool any = static_cast<std::size_t>(index) < m_matrices.size();
    m_choice->setCurrentIndex(any ? index : -1);
    m_syncing = true;
    m_model->setMatrix(any ? m_matrices[static_cast<std::size_t>(index)] : BlockMatrix{});
    m_syncing = false;
    sizeCells();
    updateNote();
    fromDocument();
}

void BlockPanel::updateNote() {
    const QString outlines = tr("outlined: in float, or another precision than most");
    m_note->setFullText(m_canvas->metric() == Metric::None
                            ? tr("States \u00b7 %1").arg(outlines)
                            : tr("%1 \u00b7 %2").arg(metricName(m_canvas->metric()), outlines));
}

/// Makes a column as wide as its heading needs, and wider if there is room. If there is too little, the
/// widest headings are elided.
void BlockPanel::sizeCells() {
    const int unit = fontMetrics().height(), columns = m_model->columnCount();
    QHeaderView* header = m_view->horizontalHeader();
    header->setMinimumSectionSize(unit);
    m_view->verticalHeader()->setMinimumSectionSize(unit);
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.5));
    if (columns == 0) return;
    const QFontMetrics numbers(numberFont(font()));
    const int room = m_view->viewport()->width(), share = std::min(room / columns, unit * 6);
    std::vector<int> least, widths;
    for (int column = 0; column < columns; ++column) {
        int number = unit * 3;
        for (int row = 0; row < m_model->rowCount(); ++row)
            number = std::max(
                number, numbers.horizontalAdvance(m_model->index(row, column).data().toString()) + unit);
        least.push_back(number);
        widths.push_back(std::max(number, header->sectionSizeHint(column)));
    }
    int limit = *std::ranges::max_element(widths);
    const auto limited = [&](std::size_t column) {
        return std::max({least[column], std::min(widths[column], limit), share});
    };
    const auto total = [&] {
        int sum = 0;
        for (std::size_t column = 0; column < widths.size(); ++column) sum += limited(column);
        return sum;
    };
    while (limit > unit * 5 && total() > room) --limit;
    for (std::size_t column = 0; column < widths.size(); ++column)
        m_view->setColumnWidth(static_cast<int>(column), limited(column));
}

/// Shows the matrix that contains the current layer.
void BlockPanel::followSelection() {
    const NodeId current = m_document->current();
    if (current.valid() && !m_syncing && !m_model->indexOf(current).isValid())
        for (std::size_t i = 0; i < m_matrices.size(); ++i)
            if (std::ranges::find(m_matrices[i].layers, current) != m_matrices[i].layers.end())
                return showMatrix(static_cast<int>(i));
    fromDocument();
}

void BlockPanel::fromDocument() {
    if (m_syncing) return;
    m_syncing = true;
    QModelIndexList cells;
    for (const NodeId node : m_document->selection()) cells.append(m_model->indexOf(node));
    m_view->selectionModel()->select(mergedSelection(std::move(cells)), QItemSelectionModel::ClearAndSelect);
    const QModelIndex current = m_model->indexOf(m_document->current());
    m_view->selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    if (current.isValid() && !m_view->hasFocus()) m_view->scrollTo(current);
    m_syncing = false;
}

void BlockPanel::toDocument() {
    if (m_syncing) return;
    std::vector<NodeId> nodes;
    for (const QModelIndex& index : m_view->selectionModel()->selectedIndexes())
        if (const NodeId node = m_model->layerAt(index); node.valid()) nodes.push_back(node);
    std::ranges::sort(nodes);
    // The focus alone makes a cell current; layers that the matrix does not contain stay selected.
    const auto isShown = [this](NodeId node) { return m_model->indexOf(node).isValid(); };
    if (nodes.empty() && std::ranges::none_of(m_document->selection(), isShown)) return;
    m_syncing = true;
    NodeId current = m_model->layerAt(m_view->currentIndex());
    if (std::ranges::find(nodes, current) == nodes.end()) current = nodes.empty() ? NodeId() : nodes.front();
    m_document->select(std::move(nodes), current);
    m_syncing = false;
}

bool BlockPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && watched == m_view->viewport()) sizeCells();
    if (watched == m_view && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
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

void BlockPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange && m_view) sizeCells();
    QWidget::changeEvent(event);
}

}  // namespace quantloupe::ui
