// SPDX-License-Identifier: Apache-2.0
#include "widgets/command_palette.h"

#include <QKeyEvent>
#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace quantloupe::ui {

int fuzzyScore(const QString& typed, const QString& text) {
    int score = 0, last = -2;
    qsizetype from = 0;
    for (const QChar letter : typed) {
        if (letter.isSpace()) continue;
        // Prefers the beginning of a word to any other position.
        qsizetype found = -1;
        for (qsizetype i = from; i < text.size(); ++i) {
            if (text[i].toLower() != letter.toLower()) continue;
            const bool begins = i == 0 || !text[i - 1].isLetterOrNumber();
            if (found < 0 || begins || i == last + 1) found = i;
            if (begins || i == last + 1) break;
        }
        if (found < 0) return -1;
        score += 1;
        if (found == last + 1) score += 3;
        if (found == 0 || !text[found - 1].isLetterOrNumber()) score += 4;
        last = static_cast<int>(found);
        from = found + 1;
    }
    return score;
}

QString actionName(const QAction& action) {
    QString name = action.text().section(QLatin1Char('\t'), 0, 0);
    return name.remove(QLatin1Char('&')).remove(QChar(0x2026));
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup), m_actions(actions) {
    const int unit = fontMetrics().height();
    setObjectName(QStringLiteral("palette"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit / 2, unit / 2, unit / 2, unit / 2);
    m_line = new QLineEdit;
    m_line->setPlaceholderText(tr("Type a command"));
    m_line->setAccessibleName(m_line->placeholderText());
    m_list = new QListWidget;
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(m_line);
    column->addWidget(m_list, 1);
    resize(unit * 34, unit * 24);
    m_line->installEventFilter(this);
    connect(m_line, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
    filter({});
}

void CommandPalette::showOver(const QWidget* window) {
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, window->height() / 8)));
    show();
    m_line->setFocus();
}

void CommandPalette::filter(const QString& text) {
    std::vector<std::pair<int, int>> order;
    for (int i = 0; i < m_actions.size(); ++i) {
        const int score = fuzzyScore(text, actionName(*m_actions[i]));
        // Disabled commands are last, so that users find them and see that they are disabled.
        if (score >= 0) order.emplace_back(-(m_actions[i]->isEnabled() ? score + 1000 : score), i);
    }
    std::ranges::stable_sort(order, {}, &std::pair<int, int>::first);
    m_list->clear();
    for (const auto& [score, index] : order) {
        const QAction* action = m_actions[index];
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(action->property("menuPath").toString() + actionName(*action) +
                                         (action->isChecked() ? QStringLiteral(" \u2713") : QString()) +
                                         (keys.isEmpty() ? QString() : QStringLiteral("    ") + keys));
        item->setData(Qt::UserRole, index);
        item->setToolTip(action->toolTip());
        if (!action->isEnabled()) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
        m_list->addItem(item);
    }
    m_list->setCurrentRow(m_list->count() > 0 ? 0 : -1);
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !(item->flags() & Qt::ItemIsEnabled)) return;
    // Only after this popup is closed, because the command may open a dialog or take the focus.
    QTimer::singleShot(0, m_actions[item->data(Qt::UserRole).toInt()], &QAction::trigger);
    close();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int page = 10;
        const int step = key == Qt::Key_Down       ? 1
                         : key == Qt::Key_Up       ? -1
                         : key == Qt::Key_PageDown ? page
                         : key == Qt::Key_PageUp   ? -page
                                                   : 0;
        if (step != 0 && m_list->count() > 0) {
            m_list->setCurrentRow(std::clamp(m_list->currentRow() + step, 0, m_list->count() - 1));
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            run();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace quantloupe::ui
