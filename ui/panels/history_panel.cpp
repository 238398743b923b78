// SPDX-License-Identifier: Apache-2.0
#include "panels/history_panel.h"

#include <QHeaderView>
#include <QMenu>
#include <QVBoxLayout>

#include "widgets/basics.h"

namespace quantloupe::ui {

HistoryPanel::HistoryPanel(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    m_model = new HistoryModel(document, this);
    m_view = new QTableView;
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setTabKeyNavigation(false);
    m_view->setTextElideMode(Qt::ElideMiddle);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.55));
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setSectionResizeMode(HistoryModel::Change, QHeaderView::Stretch);
    m_view->horizontalHeader()->setMinimumSectionSize(unit * 2);
    m_view->setColumnWidth(HistoryModel::Result, qRound(unit * 5.5));
    m_view->setColumnWidth(HistoryModel::Difference, qRound(unit * 4.4));
    m_view->setAccessibleName(QStringLiteral("Measured configurations"));
    m_hint = makeLabel(QStringLiteral("Every configuration that was measured is listed here. Click one to go back to it."),
                       "faint", 0.92);
    m_hint->setWordWrap(true);
    m_hint->setContentsMargins(unit, unit / 2, unit, unit / 2);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_hint);
    column->addWidget(m_view, 1);
    setMinimumWidth(unit * 20);

    const auto goBack = [this](const QModelIndex& index) { m_document->goBackTo(m_model->entryOf(index)); };
    connect(m_view, &QTableView::clicked, this, goBack);
    connect(m_view, &QTableView::activated, this, goBack);
    connect(m_view, &QTableView::customContextMenuRequested, this, &HistoryPanel::showMenu);
    connect(m_model, &QAbstractItemModel::modelReset, this, &HistoryPanel::refresh);
    refresh();
}

void HistoryPanel::refresh() { m_hint->setVisible(m_model->rowCount() < 2); }

void HistoryPanel::showMenu(QPoint at) {
    const QModelIndex index = m_view->indexAt(at);
    if (!index.isValid()) return;
    const std::size_t entry = m_model->entryOf(index);
    const bool pinned = m_document->history().entries()[entry].version == m_document->history().baseline();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(QStringLiteral("&Go back to this")), &QAction::triggered, this,
            [this, entry] { m_document->goBackTo(entry); });
    connect(menu->addAction(pinned ? QStringLiteral("Un&pin the baseline") : QStringLiteral("&Pin as baseline")),
            &QAction::triggered, this, [this, entry] { m_document->pinBaseline(entry); });
    menu->popup(m_view->viewport()->mapToGlobal(at));
}

}  // namespace quantloupe::ui
