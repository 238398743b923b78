// SPDX-License-Identifier: Apache-2.0
// The window's style sheet: rules with @names that are replaced by colors of the theme and by sizes derived
// from the font.
#include <QFontMetricsF>
#include <QList>
#include <QPair>
#include <algorithm>
#include <cmath>

#include "style/theme.h"

namespace quantloupe::ui {

namespace {

const char* const kRules = R"(
QMainWindow, QDialog { background: @window; }
QWidget { color: @text; }
QToolTip { background: @panel; color: @text; border: 1px solid @border; padding: @quarter; }

QMenuBar { background: @panel; padding: 2px @half; }
QMenuBar::item { padding: @quarter @half; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @panel; border: 1px solid @border; padding: @quarter; }
QMenu::item { padding: @quarter @double @quarter @one; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: @quarter @half; }
QMenu::indicator, QMenu::icon { left: @quarter; }

QFrame#panel, QScrollArea#panel, QWidget#panelBody { background: @panel; border: none; }
QFrame#header { background: @panel; border: none; border-top: 1px solid @border;
    border-bottom: 1px solid @border; }
QFrame#card { background: @soft; border: 1px solid @border; border-radius: 6px; }
QFrame#messageError { background: @errorFill; border: none; border-bottom: 1px solid @border; }
QFrame#messageNote { background: @accentSoft; border: none; border-bottom: 1px solid @border; }
QFrame#overlay { background: @panel; border: 1px solid @border; border-radius: 6px; }
QFrame#divider { background: @border; border: none; }
QFrame#banner { background: @inFloatFill; border: 1px solid @inFloat; border-radius: 6px; }
QLabel { background: transparent; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLabel[role="heading"] { color: @muted; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="faint"] { color: @faint; }
QLabel[role="good"] { color: @good; }
QLabel[role="bad"] { color: @error; }

QPushButton { background: @panel; border: 1px solid @border; border-radius: 5px; padding: @quarter @three; }
QPushButton:hover { background: @soft; border-color: @edge; }
QPushButton:pressed { background: @hover; }
QPushButton:disabled { color: @faint; }
QPushButton:focus { border-color: @accent; }
QPushButton[primary="true"] { background: @accent; border-color: @accent; color: @accentText; }
QPushButton[primary="true"]:disabled { background: @soft; border-color: @border; color: @faint; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[segment="true"] { border-radius: 0; border-right: none; padding: @quarter @half;
    min-width: @one; }
QPushButton[segment="true"][even="true"] { padding: @quarter 0; min-width: @segment; }
QPushButton[segment="true"][place="first"] { border-top-left-radius: 5px; border-bottom-left-radius: 5px; }
QPushButton[segment="true"][place="last"] { border-top-right-radius: 5px; border-bottom-right-radius: 5px;
    border-right: 1px solid @border; }
QPushButton[segment="true"]:checked { background: @accent; color: @accentText; border-color: @accent; }
QPushButton[chip="true"] { padding: @quarter @half; }
QPushButton[chip="true"]:checked { background: @accent; color: @accentText; border-color: @accent; }
QPushButton[chip="true"]:checked:disabled { background: @soft; color: @muted; border-color: @border; }
QPushButton[segment="true"]:disabled { color: @faint; }
QPushButton[segment="true"]:checked:disabled { background: @soft; color: @muted; border-color: @border; }
QPushButton[link="true"] { border: none; background: transparent; color: @accent; padding: 2px 0;
    text-align: left; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:disabled { color: @faint; }
QToolButton { background: transparent; border: none; border-radius: 4px; padding: 3px; }
QToolButton:hover { background: @hover; }
QToolButton:focus { background: @hover; }

QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QPlainTextEdit { background: @field; border: 1px solid @border;
    border-radius: 5px; padding: @quarter @half; selection-background-color: @accent;
    selection-color: @accentText; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus { border-color: @accent; }
QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled,
QPlainTextEdit:disabled { background: @soft; color: @faint; }
QLineEdit[wrong="true"] { border-color: @error; background: @errorFill; }
QComboBox::drop-down { border: none; width: @one; }
QComboBox::down-arrow { image: url(@arrow); width: @arrowSize; height: @arrowSize; right: @quarter; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @border;
    selection-background-color: @accentSoft;
    selection-color: @text; outline: none; padding: @quarter; }

QTableView { background: @panel; border: none; gridline-color: transparent;
    selection-background-color: @accentSoft;
    selection-color: @text; outline: none; alternate-background-color: @panel; }
QTableView::item { border: none; padding: 0 @quarter; }
QTableView::item:hover { background: @soft; }
QTableView::item:selected { background: @accentSoft; color: @text; }
QTreeView { background: @panel; border: 1px solid @border; border-radius: 5px; outline: none; padding: @quarter;
    selection-background-color: @accentSoft; selection-color: @text; }
QTreeView::item { padding: 3px 0; }
QTreeView::item:hover { background: @soft; }
QTreeView::item:selected { background: @accentSoft; color: @text; }
QHeaderView { background: @panel; border: none; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @border;
    padding: @quarter @one @quarter @half; }
QHeaderView::section:hover { color: @text; }
QTableView#blockMatrix QHeaderView::section { border: none; padding: 0 @half; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QTableCornerButton::section { background: @panel; border: none; }

QSplitter::handle { background: @border; }
QSplitter::handle:hover { background: @accent; }
QScrollBar:vertical { background: transparent; width: @bar; margin: 0; }
QScrollBar:horizontal { background: transparent; height: @bar; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: @double; }
QScrollBar::handle:horizontal { min-width: @double; }
QScrollBar::handle:hover { background: @edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QTabBar { background: transparent; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent;
    padding: @quarter @half; margin-right: @quarter; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:focus { color: @accent; }
QDialog#palette { background: @panel; border: 1px solid @border; }
QListWidget::item { padding: @quarter @half; border-radius: 4px; }
QListWidget::item:selected { background: @accentSoft; color: @text; }
QListWidget::item:disabled { color: @faint; }
QListView { background: @panel; border: none; outline: none; selection-background-color: @accentSoft; selection-color: @text; }

QDockWidget { color: @text; }
QDockWidget::title { background: @panel; padding: @half @one; text-align: left;
    border-bottom: 1px solid @border; }
QDockWidget::close-button { subcontrol-position: center right; right: @one; padding: 0; border: none; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }

QFrame#status { background: @panel; border: none; border-top: 1px solid @border; }
QProgressBar { background: @hover; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
)";

}  // namespace

QString styleSheetOf(const Theme& t, const QFont& font) {
    const double unit = QFontMetricsF(font).height();
    const auto px = [unit](double share) {
        return QString::number(std::max(1L, std::lround(unit * share))) + QStringLiteral("px");
    };
    // Longest names first, so that "@soft" does not replace the start of a longer name.
    QList<QPair<QString, QString>> words = {
        {QStringLiteral("window"), t.window.name()},
        {QStringLiteral("panel"), t.panel.name()},
        {QStringLiteral("border"), t.border.name()},
        {QStringLiteral("soft"), t.soft.name()},
        {QStringLiteral("field"), (t.dark ? t.window : t.panel).name()},
        {QStringLiteral("hover"), t.hover.name()},
        {QStringLiteral("text"), t.text.name()},
        {QStringLiteral("muted"), t.muted.name()},
        {QStringLiteral("faint"), t.faint.name()},
        {QStringLiteral("accent"), t.accent.name()},
        {QStringLiteral("accentText"), t.accentText.name()},
        {QStringLiteral("accentSoft"), t.accentSoft.name()},
        {QStringLiteral("good"), t.good.name()},
        {QStringLiteral("inFloat"), t.inFloat.name()},
        {QStringLiteral("inFloatFill"), t.inFloatFill.name()},
        {QStringLiteral("error"), t.error.name()},
        {QStringLiteral("errorFill"), t.errorFill.name()},
        {QStringLiteral("edge"), t.edge.name()},
        {QStringLiteral("arrow"), QLatin1String(t.dark ? ":/ui/arrow_dark.svg" : ":/ui/arrow_light.svg")},
        {QStringLiteral("arrowSize"), px(0.6)},
        {QStringLiteral("quarter"), px(0.25)},
        {QStringLiteral("half"), px(0.5)},
        {QStringLiteral("three"), px(0.75)},
        {QStringLiteral("one"), px(1.0)},
        {QStringLiteral("double"), px(2.0)},
        {QStringLiteral("segment"), px(1.25)},
        {QStringLiteral("bar"), px(0.75)},
    };
    std::sort(words.begin(), words.end(),
              [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    QString sheet = QString::fromLatin1(kRules);
    for (const auto& [name, value] : words) sheet.replace(QLatin1Char('@') + name, value);
    return sheet;
}

}  // namespace quantloupe::ui
