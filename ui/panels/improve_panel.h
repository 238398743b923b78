// SPDX-License-Identifier: Apache-2.0
#pragma once
// One place for everything that improves the accuracy: evaluated suggestions, the search for precisions, and
// AMCT's workflow.

#include <QStackedWidget>
#include <QTabBar>

#include "panels/amct_panel.h"
#include "panels/suggestion_section.h"
#include "panels/tune_finder.h"

namespace quantloupe::ui {

class ImprovePanel : public QWidget {
    Q_OBJECT
  public:
    enum Page { Suggestions, Search, Amct };

    explicit ImprovePanel(Document* document, QWidget* parent = nullptr);
    Page page() const { return static_cast<Page>(m_bar->currentIndex()); }
    void setPage(Page page) { m_bar->setCurrentIndex(page); }
    SuggestionSection* suggestions() const { return m_suggestions; }
    TuneFinder* finder() const { return m_finder; }
    AmctPanel* amct() const { return m_amct; }

  Q_SIGNALS:
    void pageChanged();

  private:
    QWidget* scrolled(const QString& text, QWidget* content);

    QTabBar* m_bar;
    QStackedWidget* m_pages;
    SuggestionSection* m_suggestions;
    TuneFinder* m_finder;
    AmctPanel* m_amct;
};

}  // namespace quantloupe::ui
