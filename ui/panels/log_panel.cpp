// SPDX-License-Identifier: Apache-2.0
#include "panels/log_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QVBoxLayout>

namespace quantloupe::ui {

LogPanel::LogPanel(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document), m_log(new EvaluationLog(document, this)) {
    const int unit = fontMetrics().height();
    m_view = new QTableView;
    m_view->setModel(m_log);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(qRound(unit * 1.45));
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->horizontalHeader()->setStretchLastSection(true);
    for (const auto& [column, width] : {std::pair{0, 5.5}, {1, 6.0}, {2, 6.0}, {3, 6.5}})
        m_view->setColumnWidth(column, qRound(unit * width));
    m_view->setAccessibleName(tr("Log"));
    m_head = new QWidget(this);
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(0, 0, 0, 0);
    m_copy = new QPushButton(tr("Copy as Command Line"));
    m_copy->setToolTip(tr("Copies a command that evaluates the configuration of this row again"));
    m_copy->setEnabled(false);
    row->addStretch(1);
    row->addWidget(m_copy);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_view);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this] { m_copy->setEnabled(m_view->selectionModel()->hasSelection()); });
    connect(m_copy, &QPushButton::clicked, this, &LogPanel::copyCommand);
}

void LogPanel::copyCommand() {
    const QModelIndexList rows = m_view->selectionModel()->selectedRows();
    if (rows.isEmpty() || !m_document->hasModel()) return;
    QApplication::clipboard()->setText(commandLineOf(*m_document, m_log->entry(rows.front().row()).config));
    m_document->say(MessageKind::Note, tr("Copied the command line."));
}

}  // namespace quantloupe::ui
