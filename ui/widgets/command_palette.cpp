// SPDX-License-Identifier: Apache-2.0
#include "widgets/command_palette.h"

#include <QKeyEvent>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

namespace quantloupe::ui {

int fuzzyScore(const QString& typed, const QString& text) {
    constexpr int kNone = -1, kBegin = 4, kNext = 3;  // the beginning of a word, right after the last letter
    const auto size = static_cast<std::size_t>(text.size());
    std::vector<int> ending;  // best score of the letters so far if the last one is at this position
    for (const QChar letter : typed) {
        if (letter.isSpace()) continue;
        std::vector<int> next(size, kNone);
        int before = ending.empty() ? 0 : kNone;  // best score of the previous letters further left
        for (std::size_t i = 0; i < size; ++i) {
            const auto at = static_cast<qsizetype>(i);
            const int adjacent = !ending.empty() && i > 0 ? ending[i - 1] : kNone;
            const int best = std::max(before, adjacent == kNone ? kNone : adjacent + kNext);
            const bool begins = i == 0 || !text[at - 1].isLetterOrNumber();
            if (best != kNone && text[at].toLower() == letter.toLower())
                next[i] = best + 1 + (begins ? kBegin : 0);
            before = std::max(before, adjacent);
        }
        if (std::ranges::count(next, kNone) == std::ssize(next)) return kNone;
        ending = std::move(next);
    }
    return ending.empty() ? 0 : std::ranges::max(ending);
}

QString actionName(const QAction& action) {
    QString name = action.text().section(QLatin1Char('\t'), 0, 0);
    return name.remove(QLatin1Char('&')).remove(QChar(0x2026));
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup), m_actions(actions.begin(), actions.end()) {
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
    constexpr qsizetype kLeastForToolTips = 4;  // shorter texts are in almost all of them
    struct Found {
        int literal;  // 2: in the name, 1: its words are in the name, the menus above it or the tool tip
        bool enabled;
        int score, index;
    };
    std::vector<Found> order;
    const QString typed = text.simplified();
    const QStringList words = typed.split(QLatin1Char(' '));
    for (int i = 0; i < m_actions.size(); ++i) {
        if (m_actions[i].isNull()) continue;
        const QString name = actionName(*m_actions[i]);
        const QString all =
            m_actions[i]->property("menuPath").toString() + name +
            (typed.size() < kLeastForToolTips ? QString() : QLatin1Char(' ') + m_actions[i]->toolTip());
        const bool hasWords = std::ranges::all_of(
            words, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
        const int literal = name.contains(typed, Qt::CaseInsensitive) ? 2 : hasWords ? 1 : 0;
        const int score = fuzzyScore(typed, name);
        if (literal > 0 || score >= 0) order.push_back({literal, m_actions[i]->isEnabled(), score, i});
    }
    // Disabled commands are listed too, so that users find them and see that they are disabled.
    std::ranges::stable_sort(order, std::greater<>(), [](const Found& found) {
        return std::tuple(found.literal, found.enabled, found.score);
    });
    m_list->clear();
    if (order.empty()) {
        auto* none = new QListWidgetItem(tr("No command matches \u201c%1\u201d").arg(typed), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
    for (const auto& [literal, enabled, score, index] : order) {
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
    m_list->setCurrentRow(order.empty() ? -1 : 0);
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !(item->flags() & Qt::ItemIsEnabled)) return;
    // Only after this popup is closed, because the command may open a dialog or take the focus.
    if (QAction* action = m_actions[item->data(Qt::UserRole).toInt()])
        QTimer::singleShot(0, action, &QAction::trigger);
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
