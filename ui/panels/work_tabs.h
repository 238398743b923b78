// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tabs below the graph: layers, accuracy loss by step, results by class, images whose class changed, and
// log, with the layer filter next to the tabs.

#include <QStackedWidget>
#include <QTabBar>

#include "panels/accuracy_path_panel.h"
#include "panels/classes_panel.h"
#include "panels/flipped_panel.h"
#include "panels/layer_table.h"
#include "panels/log_panel.h"

namespace quantloupe::ui {

class WorkTabs : public QWidget {
    Q_OBJECT
  public:
    enum Tab { Layers, AccuracyPath, Images, Log, Classes, Count };
    WorkTabs(Document* document, LayerTable* layers, QWidget* parent = nullptr);
    void showTab(int tab);
    int currentTab() const { return m_bar->currentIndex(); }
    QTabBar* bar() const { return m_bar; }
    AccuracyPathPanel* accuracyPath() const { return m_path; }
    ClassesPanel* classes() const { return m_classes; }
    FlippedPanel* flipped() const { return m_flipped; }
    LogPanel* log() const { return m_log; }

  Q_SIGNALS:
    void layerChosen(quantloupe::NodeId layer);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QTabBar* m_bar;
    QStackedWidget *m_pages, *m_heads;
    AccuracyPathPanel* m_path;
    ClassesPanel* m_classes;
    FlippedPanel* m_flipped;
    LogPanel* m_log;
};

}  // namespace quantloupe::ui
