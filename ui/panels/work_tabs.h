// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tabs below the graph: layers, repeated blocks, accuracy loss by step, images whose class changed, log,
// results by class, and notices, with the head of the current page next to the tabs.

#include <QStackedWidget>
#include <QTabBar>

#include "panels/accuracy_path_panel.h"
#include "panels/block_panel.h"
#include "panels/classes_panel.h"
#include "panels/flipped_panel.h"
#include "panels/layer_table.h"
#include "panels/log_panel.h"
#include "panels/notices_panel.h"

namespace quantloupe::ui {

class WorkTabs : public QWidget {
    Q_OBJECT
  public:
    /// In the order of the tabs and their shortcuts. Tabs with nothing to show are hidden.
    enum Tab { Layers, Blocks, AccuracyPath, Images, Log, Classes, Notices, Count };
    WorkTabs(Document* document, LayerTable* layers, GraphCanvas* canvas, QWidget* parent = nullptr);
    /// Does nothing if the tab is not available.
    void showTab(int tab);
    /// Gives the focus to the layers of the current tab, if it has any, so that the keyboard can go on there.
    void focusTab();
    int currentTab() const { return m_bar->tabData(m_bar->currentIndex()).toInt(); }
    /// The text of the menu's command for a tab: "Show Lo&g".
    static QString commandText(int tab);
    /// Returns why a tab has nothing to show; empty if it is available.
    QString whyNot(int tab) const;
    QTabBar* bar() const { return m_bar; }
    BlockPanel* blocks() const { return m_blocks; }
    AccuracyPathPanel* accuracyPath() const { return m_path; }
    ClassesPanel* classes() const { return m_classes; }
    FlippedPanel* flipped() const { return m_flipped; }
    LogPanel* log() const { return m_log; }
    NoticesPanel* notices() const { return m_notices; }

  Q_SIGNALS:
    void tabsChanged();  ///< which tabs are available
    void layerChosen(quantloupe::NodeId layer);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void addTab(Tab tab, QWidget* page, QWidget* head);
    void updateTabs();
    void fitTabs();
    QString whyNoResults() const;
    QString m_whyNoResults;  ///< as of the last finished evaluation
    int placeOf(int tab) const;

    Document* m_document;
    LayerTable* m_layers;
    QTabBar* m_bar;
    QStackedWidget *m_pages, *m_heads;
    BlockPanel* m_blocks;
    AccuracyPathPanel* m_path;
    ClassesPanel* m_classes;
    FlippedPanel* m_flipped;
    LogPanel* m_log;
    NoticesPanel* m_notices;
};

}  // namespace quantloupe::ui
