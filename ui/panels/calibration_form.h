// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of a calibration method with their defaults, for the network and for single layers.

#include <QLabel>
#include <QList>
#include <QWidget>

#include "config/calibration_config.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

class CalibrationForm : public QWidget {
    Q_OBJECT
  public:
    explicit CalibrationForm(QWidget* parent = nullptr);
    /// Shows the parameters of a method. `inherited` is used where `own` has no value.
    void show(CalibrationMethod method, const CalibrationParameters& own,
              const CalibrationParameters& inherited = {});
    /// Returns the field of a key, e.g. "percentile"; null if the method does not have it. `part` 1: the end
    /// of a range.
    NumberField* field(const QString& key, int part = 0) const;

  Q_SIGNALS:
    void changed(quantloupe::CalibrationParameters parameters, QString text);

  private:
    struct Row {
        const struct ParameterText* text = nullptr;
        QWidget* widget = nullptr;
        NumberField* fields[2] = {};
        ChoiceBox* choice = nullptr;
    };
    void enter(const Row& row, NumberField* field, const QString& text);

    QList<Row> m_rows;
    CalibrationParameters m_own, m_inherited;
    QLabel* m_complaint;
    bool m_any = false;
};

}  // namespace quantloupe::ui
