// SPDX-License-Identifier: Apache-2.0
#include "panels/layer_view_menu.h"

#include <QInputDialog>
#include <algorithm>

#include "panels/layer_table.h"

namespace quantloupe::ui {

namespace {

/// An ampersand would mark a letter.
QString plain(const QString& name) { return QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")); }

}  // namespace

LayerViewMenu::LayerViewMenu(LayerTable* table) : QMenu(tr("Layer Vie&ws"), table), m_table(table) {
    setToolTipsVisible(true);
    for (const LayerView& view : builtInViews()) m_builtIn.append({addView(view, nullptr), view});
    m_saveSeparator = addSeparator();
    m_saveAction = addAction(tr("&Save as View\u2026"));
    m_saveAction->setToolTip(
        tr("Saves the filter, the sort order and the columns under a name, for all models"));
    connect(m_saveAction, &QAction::triggered, this, &LayerViewMenu::save);
    m_remove = addMenu(tr("&Remove View"));
    connect(this, &QMenu::aboutToShow, this, &LayerViewMenu::refresh);
    refresh();
}

QAction* LayerViewMenu::addView(const LayerView& view, QAction* before) {
    auto* action = new QAction(plain(view.name), this);
    action->setCheckable(true);
    const QString order = m_table->columnTitle(view.column);
    action->setToolTip(view.filter.isEmpty() ? tr("Sorted by %1").arg(order)
                                             : tr("Filter %1, sorted by %2").arg(view.filter, order));
    connect(action, &QAction::triggered, this, [this, view] {
        m_table->apply(view);
        refresh();
        Q_EMIT chosen();
    });
    insertAction(before, action);
    return action;
}

void LayerViewMenu::refresh() {
    // The action that is being triggered may be among them, so they are deleted later.
    for (const auto& [action, view] : std::as_const(m_saved)) {
        removeAction(action);
        action->deleteLater();
    }
    for (QAction* action : m_remove->actions()) {
        m_remove->removeAction(action);
        action->deleteLater();
    }
    m_saved.clear();
    const LayerView present = m_table->present();
    const auto marked = [&](QAction* action, const LayerView& view) {
        action->setChecked(view.shows(present));
    };
    for (const auto& [action, view] : std::as_const(m_builtIn)) marked(action, view);
    for (const LayerView& view : savedViews()) {
        QAction* action = addView(view, m_saveSeparator);
        if (m_saved.isEmpty()) m_saved.emplaceBack(insertSeparator(action), LayerView{});
        marked(action, view);
        m_saved.append({action, view});
        QAction* remove = m_remove->addAction(plain(view.name));
        connect(remove, &QAction::triggered, this, [this, name = view.name] {
            removeView(name);
            refresh();
        });
        for (QAction* entry : {action, remove}) entry->setProperty("comesAndGoes", true);
    }
    m_remove->menuAction()->setVisible(!m_saved.isEmpty());
}

void LayerViewMenu::save() {
    auto* dialog = new QInputDialog(m_table->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save as View"));
    dialog->setLabelText(tr("Name of the view. A view of the same name is replaced."));
    dialog->setTextValue(m_table->present().filter);
    connect(dialog, &QInputDialog::textValueSelected, this, &LayerViewMenu::keep);
    dialog->open();
}

void LayerViewMenu::keep(const QString& typed) {
    LayerView view = m_table->present();
    view.name = typed.simplified();
    if (view.name.isEmpty()) return Q_EMIT refused(tr("The view was not saved: it needs a name."));
    if (std::ranges::any_of(m_builtIn, [&](const auto& known) { return known.second.name == view.name; }))
        return Q_EMIT refused(
            tr("The view was not saved: \u201c%1\u201d is a built-in view and cannot be replaced.")
                .arg(view.name));
    saveView(view);
    refresh();
}

}  // namespace quantloupe::ui
