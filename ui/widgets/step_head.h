// SPDX-License-Identifier: Apache-2.0
#pragma once
// The head of a step in a checklist: its number in a circle, a tick once it is done, the title, and a remark
// at the right. A click, Space or Enter asks for its body.

#include <QAbstractButton>
#include <optional>

namespace quantloupe::ui {

class StepHead : public QAbstractButton {
    Q_OBJECT
  public:
    StepHead(int number, const QString& title, QWidget* parent = nullptr);
    /// `present`: the one to work on. The remark is good, bad, or neither.
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
