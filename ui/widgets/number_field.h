// SPDX-License-Identifier: Apache-2.0
#pragma once
// A right-aligned field for a number. The listener validates the entered text. Rejected text stays marked for
// correction, with the reason as tool tip; Escape restores the old value.

#include <QLineEdit>

namespace quantloupe::ui {

class NumberField : public QLineEdit {
    Q_OBJECT
  public:
    explicit NumberField(const QString& accessibleName, QWidget* parent = nullptr);
    /// Shows the value and clears a complaint, unless the user is typing. Empty: shows the placeholder, which
    /// is the default value.
    void setValue(const QString& text, const QString& placeholder = {});
    void setComplaint(const QString& text);
    QString complaint() const { return m_complaint; }

  Q_SIGNALS:
    void entered(QString text);  ///< the user pressed Enter or left the field after changing the text

  protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QString m_value, m_complaint;
};

/// Formats a number as the shortest text that is read back as the same number.
QString numberText(double value);

}  // namespace quantloupe::ui
