// SPDX-License-Identifier: Apache-2.0
#include "panels/work_tabs.h"

#include <QVBoxLayout>

namespace quantloupe::ui {

WorkTabs::WorkTabs(Document* document, LayerTable* layers, QWidget* parent) : QWidget(parent) {
    const int unit = fontMetrics().height();
    m_path = new AccuracyPathPanel(document);
    m_classes = new ClassesPanel(document);
    m_flipped = new FlippedPanel(document);
    m_log = new LogPanel(document);
    m_bar = new QTabBar;
    m_bar->setDrawBase(false);
    m_bar->setExpanding(false);
    m_bar->setAccessibleName(tr("Layers and results"));
    m_pages = new QStackedWidget;
    m_heads = new QStackedWidget;
    // The head of a hidden page must not make the row higher.
    m_heads->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const auto add = [&](const QString& name, QWidget* page, QWidget* head) {
        m_bar->addTab(name);
        m_pages->addWidget(page);
        m_heads->addWidget(head);
    };
    add(tr("Layers"), layers, layers->head());
    add(tr("Loss by step"), m_path, new QWidget);
    add(tr("Images"), m_flipped, new QWidget);
    add(tr("Log"), m_log, m_log->head());
    add(tr("Classes"), m_classes, new QWidget);
    auto* head = new QFrame;
    head->setObjectName(QStringLiteral("panel"));
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(unit / 2, unit / 4, unit, unit / 4);
    row->setSpacing(unit / 2);
    row->addWidget(m_bar);
    row->addWidget(m_heads, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(head);
    column->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, this, [this](int tab) {
        m_pages->setCurrentIndex(tab);
        m_heads->setCurrentIndex(tab);
    });
    connect(m_classes, &ClassesPanel::samplesChosen, this,
            [this](const QString& title, const std::vector<std::size_t>& samples) {
                m_flipped->showSamples(title, samples);
                showTab(Images);
            });
    connect(m_flipped, &FlippedPanel::layerChosen, this, &WorkTabs::layerChosen);
}

/// Heads shrink before tabs do; if that is not enough, the tabs scroll.
void WorkTabs::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const int tabs = m_bar->sizeHint().width(),
              rest = m_heads->minimumSizeHint().width() + fontMetrics().height() * 2;
    m_bar->setMinimumWidth(tabs + rest <= width() ? tabs : 0);
}

void WorkTabs::showTab(int tab) { m_bar->setCurrentIndex(tab); }

}  // namespace quantloupe::ui
