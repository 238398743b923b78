// SPDX-License-Identifier: Apache-2.0
#pragma once
// One number of the inspector: its name, the value, and a bar in the heat colors.

#include <QString>
#include <QWidget>

namespace quantloupe::ui {

class MetricRow : public QWidget {
    Q_OBJECT
  public:
    explicit MetricRow(const QString& name, const QString& toolTip, QWidget* parent = nullptr);
    /// A negative heat draws no bar.
    void setValue(const QString& value, double heat, bool quiet);
    /// Sets the difference from the pinned baseline, or another remark, which is shown at the right end;
    /// empty: none.
    void setDifference(const QString& difference);
    QString difference() const { return m_difference; }
    QString value() const { return m_value; }
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_name, m_value, m_difference;
    double m_heat = -1;
    bool m_quiet = false;
};

}  // namespace quantloupe::ui
