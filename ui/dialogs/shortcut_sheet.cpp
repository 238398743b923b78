// SPDX-License-Identifier: Apache-2.0
#include "dialogs/shortcut_sheet.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "style/theme.h"
#include "widgets/basics.h"
#include "widgets/command_palette.h"

namespace quantloupe::ui {

namespace {

enum ShortcutColumn { Name, Keys };
constexpr int kActionRole = Qt::UserRole;

QString keysOf(const QAction& action) {
    QStringList keys;
    for (const QKeySequence& sequence : action.shortcuts())
        keys << sequence.toString(QKeySequence::NativeText);
    // Keys that the graph and the table handle themselves are only shown after a tab.
    if (keys.isEmpty() && action.text().contains(QLatin1Char('\t')))
        keys << action.text().section(QLatin1Char('\t'), 1);
    return keys.join(QStringLiteral(", "));
}

}  // namespace

ShortcutSheet::ShortcutSheet(const QList<QAction*>& actions, ShortcutKeys* keys, QWidget* parent)
    : QDialog(parent), m_keys(keys) {
    const int unit = fontMetrics().height();
    setWindowTitle(tr("Shortcuts"));
    m_filter = new QLineEdit;
    m_filter->setPlaceholderText(tr("Find a command or a key"));
    m_filter->setAccessibleName(m_filter->placeholderText());
    m_filter->setClearButtonEnabled(true);
    m_tree = new QTreeWidget;
    m_tree->setColumnCount(2);
    m_tree->setHeaderLabels({tr("Command"), tr("Keys")});
    m_tree->setRootIsDecorated(false);
    m_tree->setIndentation(unit / 2);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setAccessibleName(tr("Commands and their keys"));
    m_tree->header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(Keys, QHeaderView::ResizeToContents);
    m_tree->header()->setStretchLastSection(false);
    fill(actions);

    m_editor = new QKeySequenceEdit;
    m_editor->setAccessibleName(tr("New keys of the selected command"));
    const auto button = [](const QString& text, const QString& tip) {
        auto* made = new QPushButton(text);
        made->setToolTip(tip);
        made->setAutoDefault(false);
        return made;
    };
    m_assign = button(tr("Assign"),
                      tr("Assigns these keys to the command, and removes them from any other command"));
    m_clear =
        button(tr("Clear Keys"), tr("Removes the keys; the command stays in the menus and the palette"));
    m_default = button(tr("Default"), tr("Restores the default keys of the command"));
    m_reset = button(tr("Reset All"), tr("Restores the default keys of all commands"));
    m_remark = makeLabel({}, "muted");
    m_remark->setWordWrap(true);
    m_assign->setObjectName(QStringLiteral("assign"));
    m_default->setObjectName(QStringLiteral("default"));
    m_reset->setObjectName(QStringLiteral("reset"));
    m_remark->setObjectName(QStringLiteral("remark"));

    auto* row = new QHBoxLayout;
    row->addWidget(m_editor, 1);
    row->addWidget(m_assign);
    row->addWidget(m_clear);
    row->addWidget(m_default);
    auto* last = new QHBoxLayout;
    last->addWidget(m_remark, 1);
    last->addWidget(m_reset);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(unit / 2);
    column->addWidget(m_filter);
    column->addWidget(m_tree, 1);
    column->addLayout(row);
    column->addLayout(last);
    resizeWithinScreen(this, QSize(unit * 32, unit * 42));

    connect(m_filter, &QLineEdit::textChanged, this, &ShortcutSheet::filter);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, &ShortcutSheet::showChosen);
    connect(m_tree, &QTreeWidget::itemActivated, this, [this] { m_editor->setFocus(); });
    connect(m_editor, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutSheet::considerKeys);
    const auto changes = [this](QPushButton* pressed, auto change) {
        connect(pressed, &QPushButton::clicked, this, [this, change] {
            change();
            refresh();
            Q_EMIT keysChanged();
        });
    };
    changes(m_assign, [this] { m_keys->set(chosen(), m_editor->keySequence()); });
    changes(m_clear, [this] { m_keys->set(chosen(), {}); });
    changes(m_default, [this] { m_keys->reset(chosen()); });
    changes(m_reset, [this] { m_keys->resetAll(); });
    showChosen();
}

QTreeWidgetItem* ShortcutSheet::addRow(const QString& group, const QString& name, const QString& keys,
                                       QAction* action) {
    QTreeWidgetItem* parent = nullptr;
    for (int i = 0; i < m_tree->topLevelItemCount() && !parent; ++i)
        if (m_tree->topLevelItem(i)->text(Name) == group) parent = m_tree->topLevelItem(i);
    if (!parent) {
        parent = new QTreeWidgetItem(m_tree, {group});
        parent->setFlags(Qt::ItemIsEnabled);
        parent->setFirstColumnSpanned(true);
        QFont bold = font();
        bold.setBold(true);
        parent->setFont(Name, bold);
        parent->setSizeHint(Name, QSize(0, fontMetrics().height() * 2));
        parent->setExpanded(true);
    }
    auto* item = new QTreeWidgetItem(parent, {name, keys});
    item->setData(Name, kActionRole, QVariant::fromValue<QObject*>(action));
    item->setFont(Keys, numberFont(font()));
    item->setSizeHint(Name, QSize(0, fontMetrics().height() * 3 / 2));
    return item;
}

void ShortcutSheet::fill(const QList<QAction*>& actions) {
    for (QAction* action : actions) {
        const QString path = action->property("menuPath").toString();
        const bool fixed = !m_keys->knows(action);
        // a temporary entry, such as a recent file
        if (fixed && keysOf(*action).isEmpty()) continue;
        addRow(path.section(QStringLiteral(" \u25b8"), 0, 0), actionName(*action), keysOf(*action),
               fixed ? nullptr : action);
    }
    const QString graph = tr("In the graph");
    addRow(graph, tr("Follow the edges"), tr("arrow keys"), nullptr);
    addRow(graph, tr("Zoom at the pointer"), QStringLiteral("Ctrl+wheel"), nullptr);
    addRow(graph, tr("Select all layers on any path from the current layer"), QStringLiteral("Shift+click"),
           nullptr);
    addRow(graph, tr("Select with a rubber band"), QStringLiteral("Shift+drag"), nullptr);
}

QAction* ShortcutSheet::chosen() const {
    const QTreeWidgetItem* item = m_tree->currentItem();
    return item ? qobject_cast<QAction*>(item->data(Name, kActionRole).value<QObject*>()) : nullptr;
}

void ShortcutSheet::showChosen() {
    const QAction* action = chosen();
    for (QWidget* part : std::initializer_list<QWidget*>{m_editor, m_clear}) part->setEnabled(action);
    m_editor->setKeySequence(action ? action->shortcut() : QKeySequence());
    considerKeys();
    if (!action)
        m_remark->setText(m_tree->currentItem() && m_tree->currentItem()->parent()
                              ? tr("These keys belong to the graph and cannot be changed.")
                              : tr("Choose a command, then press its new keys."));
}

/// Warns about the command that would lose the keys.
void ShortcutSheet::considerKeys() {
    const QAction* action = chosen();
    const QKeySequence keys = m_editor->keySequence();
    m_assign->setEnabled(action && !keys.isEmpty() && !action->shortcuts().contains(keys));
    m_default->setEnabled(action && !m_keys->isDefault(action));
    const QAction* holder = action ? m_keys->holder(keys, action) : nullptr;
    m_remark->setText(holder ? tr("%1 is assigned to \u201c%2\u201d, which would lose it.")
                                   .arg(keys.toString(QKeySequence::NativeText), actionName(*holder))
                             : QString());
}

void ShortcutSheet::refresh() {
    for (QTreeWidgetItemIterator item(m_tree); *item; ++item)
        if (const auto* action = qobject_cast<QAction*>((*item)->data(Name, kActionRole).value<QObject*>()))
            (*item)->setText(Keys, keysOf(*action));
    showChosen();
}

void ShortcutSheet::filter(const QString& text) {
    for (int g = 0; g < m_tree->topLevelItemCount(); ++g) {
        QTreeWidgetItem* group = m_tree->topLevelItem(g);
        bool any = false;
        for (int i = 0; i < group->childCount(); ++i) {
            QTreeWidgetItem* item = group->child(i);
            const bool fits = item->text(Name).contains(text, Qt::CaseInsensitive) ||
                              item->text(Keys).contains(text, Qt::CaseInsensitive);
            item->setHidden(!fits);
            any = any || fits;
        }
        group->setHidden(!any);
    }
}

}  // namespace quantloupe::ui
