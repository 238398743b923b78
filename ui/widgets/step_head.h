// SPDX-License-Identifier: Apache-2.0
#pragma once
// The heading of a step in a checklist: its number in a circle, a check mark when it is done, the title, and
// a remark at the right. A click, Space or Enter requests its body.

#include <QAbstractButton>
#include <optional>

namespace quantloupe::ui {

class StepHead : public QAbstractButton {
    Q_OBJECT
  public:
    StepHead(int number, const QString& title, QWidget* parent = nullptr);
    /// `present`: this is the current step. `good`: whether the remark is positive or negative; empty:
    /// neutral.
    void setState(bool done, bool present, const QString& remark, std::optional<bool> good);
    bool done() const { return m_done; }
    bool present() const { return m_present; }
    const QString& remark() const { return m_remark; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    int m_number;
    QString m_title, m_remark;
    std::optional<bool> m_good;
    bool m_done = false, m_present = false;
};

}  // namespace quantloupe::ui
