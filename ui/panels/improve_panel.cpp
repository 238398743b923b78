// SPDX-License-Identifier: Apache-2.0
#include "panels/improve_panel.h"

#include <QVBoxLayout>

#include "model/quantized_model.h"

namespace quantloupe::ui {

ImprovePanel::ImprovePanel(Document* document, QWidget* parent) : QWidget(parent) {
    m_bar = new QTabBar;
    m_bar->setDrawBase(false);
    m_bar->setExpanding(false);
    m_bar->setAccessibleName(tr("Ways to improve the accuracy"));
    m_pages = new QStackedWidget;
    m_suggestions = new SuggestionSection(document);
    m_finder = new TuneFinder(document);
    m_amct = new AmctPanel(document);
    const auto add = [&](const QString& name, const QString& tip, QWidget* page) {
        m_bar->setTabToolTip(m_bar->addTab(name), tip);
        m_pages->addWidget(page);
    };
    add(tr("Suggestions"), tr("Changes that improved the accuracy"),
        scrolled(
            tr("Tries transforms, schemes, and keeping the worst layers in float, one after another. Each "
               "candidate is evaluated on all samples."),
            m_suggestions));
    add(tr("Search"), tr("The cheapest precision of each layer"),
        scrolled(tr("Finds the cheapest precision of each layer that keeps the accuracy drop within a limit, "
                    "or the most accurate choice within a budget. You can continue to edit meanwhile."),
                 m_finder));
    add(tr("AMCT"), tr("The five steps of AMCT's manual tuning"), m_amct);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    auto* quantized = makeLabel(tr("This model is already quantized, so nothing here can change its results. "
                                   "Open the float model that it was made from."),
                                "muted", 0.95);
    quantized->setWordWrap(true);
    quantized->setMargin(fontMetrics().height());
    column->addWidget(quantized);
    column->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, this, [this](int page) {
        m_pages->setCurrentIndex(page);
        Q_EMIT pageChanged();
    });
    // Nothing changes the results of a model that is already quantized.
    const auto refresh = [this, document, quantized] {
        const bool changes = !document->hasModel() || quantizationOperators(*document->graph()) == 0;
        quantized->setVisible(!changes);
        m_pages->setEnabled(changes);
    };
    connect(document, &Document::modelChanged, this, refresh);
    refresh();
}

QWidget* ImprovePanel::scrolled(const QString& text, QWidget* content) {
    const int unit = fontMetrics().height();
    auto* area = new PanelScrollArea;
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit, unit * 4 / 5, unit, unit);
    column->setSpacing(unit * 3 / 4);
    auto* label = makeLabel(text, "muted", 0.95);
    label->setWordWrap(true);
    column->addWidget(label);
    column->addWidget(content);
    column->addStretch(1);
    area->setWidget(body);
    return area;
}

}  // namespace quantloupe::ui
