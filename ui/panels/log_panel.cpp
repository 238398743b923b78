// SPDX-License-Identifier: Apache-2.0
#include "panels/log_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QVBoxLayout>

#include "style/theme.h"

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
    m_copy->setToolTip(tr("Copies the command that does the same as this row"));
    m_copy->setEnabled(false);
    row->addStretch(1);
    row->addWidget(m_copy);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_view);
    m_command = new QLineEdit;
    m_command->setReadOnly(true);
    m_command->setFont(numberFont(m_command->font()));
    m_command->setPlaceholderText(tr("Select a row to see the equivalent command line"));
    m_command->setAccessibleName(tr("Equivalent command line"));
    column->addWidget(m_command);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &LogPanel::showCommand);
    connect(m_log, &QAbstractItemModel::modelReset, this, &LogPanel::showCommand);
    connect(m_copy, &QPushButton::clicked, this, &LogPanel::copyCommand);
}

void LogPanel::showCommand() {
    const QModelIndexList rows = m_view->selectionModel()->selectedRows();
    m_command->setText(rows.isEmpty() ? QString() : m_log->entry(rows.front().row()).command);
    m_command->setCursorPosition(0);
    m_copy->setEnabled(!m_command->text().isEmpty());
}

void LogPanel::copyCommand() {
    QApplication::clipboard()->setText(m_command->text());
    m_document->say(MessageKind::Note, tr("Copied the command line."));
}

}  // namespace quantloupe::ui
