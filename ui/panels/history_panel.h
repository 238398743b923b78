// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was measured, newest first. A click goes back to a configuration, as one undo step; the pinned one is what the
// others are compared with.

#include <QLabel>
#include <QTableView>
#include <QWidget>

#include "models/history_model.h"

namespace quantloupe::ui {

class HistoryPanel : public QWidget {
    Q_OBJECT
  public:
    explicit HistoryPanel(Document* document, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }

  private:
    void showMenu(QPoint at);
    void refresh();

    Document* m_document;
    HistoryModel* m_model;
    QTableView* m_view;
    QLabel* m_hint;
};

}  // namespace quantloupe::ui
