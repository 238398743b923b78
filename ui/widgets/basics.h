// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small widgets and helpers that all panels use.

#include <QAbstractButton>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <QWidget>

namespace quantloupe::ui {

class ElidedLabel;

/// The heading of a section in small capitals, with an optional remark at the right. With a body, a click,
/// Space or Enter collapses or expands the body, and the state is remembered.
class SectionHeading : public QWidget {
    Q_OBJECT
  public:
    explicit SectionHeading(const QString& title, QWidget* parent = nullptr);
    void setTitle(const QString& title);
    void setRemark(const QString& text, const QString& toolTip = {});
    /// Sets the body. `key` identifies the section in the settings.
    void setBody(QWidget* body, const QString& key, bool open = true);
    bool isOpen() const { return m_open; }
    void setOpen(bool open);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    QLabel* m_title;
    ElidedLabel* m_remark;
    QWidget* m_body = nullptr;
    QString m_key;
    bool m_open = true;
};

/// Fills an empty widget with `heading` and a collapsible body below it. Returns the layout for the rows of
/// the body. `key` and `open` as in SectionHeading::setBody.
QVBoxLayout* buildSection(QWidget* section, SectionHeading* heading, const QString& key, bool open = true);

/// A combo box that only reacts to the wheel while it has the focus, because the wheel also scrolls panels.
class ChoiceBox : public QComboBox {
    Q_OBJECT
  public:
    explicit ChoiceBox(const QString& accessibleName, QWidget* parent = nullptr);
    void addChoice(const QString& text, const QString& meaning);

  protected:
    void wheelEvent(QWheelEvent* event) override;
};

/// A single-line label that elides its text; the whole text is the tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT
  public:
    explicit ElidedLabel(const QString& text = {}, Qt::TextElideMode mode = Qt::ElideMiddle,
                         QWidget* parent = nullptr);
    void setFullText(const QString& text);
    const QString& fullText() const { return m_full; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_full;
    Qt::TextElideMode m_mode;
};

/// A clickable label that elides its text.
class LinkButton : public QPushButton {
    Q_OBJECT
  public:
    explicit LinkButton(QWidget* parent = nullptr);
    void setFullText(const QString& text);
    /// Of the whole text: the button would never grow again if this were the size of the elided text.
    QSize sizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QString m_full;
};

/// An on/off switch with a label.
class ToggleSwitch : public QAbstractButton {
    Q_OBJECT
  public:
    explicit ToggleSwitch(const QString& text = {}, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    QSize knob() const;
};

/// Mutually exclusive choices side by side.
class SegmentedControl : public QWidget {
    Q_OBJECT
  public:
    /// `even`: all choices have the same width; otherwise each is as wide as its text needs.
    explicit SegmentedControl(const QStringList& choices, bool even = true, QWidget* parent = nullptr);
    int currentIndex() const;
    void setCurrentIndex(int index);  ///< -1: none; sends no signal
    QPushButton* button(int index) const { return m_buttons[index]; }

  Q_SIGNALS:
    void chosen(int index);

  private:
    QList<QPushButton*> m_buttons;
};

/// The scroll area of a panel, which the style sheet colors.
class PanelScrollArea : public QScrollArea {
    Q_OBJECT
  public:
    explicit PanelScrollArea(QWidget* parent = nullptr) : QScrollArea(parent) {
        setObjectName(QStringLiteral("panel"));
        setWidgetResizable(true);
        setFrameShape(QFrame::NoFrame);
    }
};

/// Sets the text of a label with word wrap, which normally only breaks between words and at a few other
/// characters. Long words, such as names of layers, get further places to break: after '.' and '_', and
/// inside of long parts. textOf() returns the text without them.
void setBreakableText(QLabel* label, const QString& text);
QString textOf(const QLabel* label);

/// Resizes a window to `wish` or, if that does not fit on the screen, to what does.
void resizeWithinScreen(QWidget* window, QSize wish);
/// Shows a window in front of the others and gives it the focus.
void bringToFront(QWidget* window);

/// Sets the style sheet's "role" and a size relative to the window's font.
QLabel* makeLabel(const QString& text, const char* role, double size = 1,
                  QFont::Weight weight = QFont::Normal);
void setRole(QWidget* widget, const char* role);
/// Creates a button that looks like a link.
QPushButton* makeLink(const QString& text = {}, const QString& toolTip = {});
/// Creates a row with a muted label at the left and the control in the remaining space; both have the tool
/// tip. Returns the row, which can be shown and hidden.
QWidget* makeRow(const QString& label, QWidget* control, const QString& toolTip = {});
/// Capitalizes the first letter: the engine's messages begin in lower case so that context can precede them.
QString sentence(QString text);
/// Removes and deletes everything in a layout.
void clearLayout(QLayout* layout);

}  // namespace quantloupe::ui
