// SPDX-License-Identifier: Apache-2.0
#pragma once
// How activation ranges are determined: the method with its parameters, and the number of samples.

#include "panels/calibration_form.h"
#include "panels/option_controls.h"

namespace quantloupe::ui {

class CalibrationSection : public QWidget {
    Q_OBJECT
  public:
    explicit CalibrationSection(Document* document, QWidget* parent = nullptr);
    /// Expands the section and focuses the method, which is returned.
    QWidget* reveal();

  private:
    void refresh();

    Document* m_document;
    SectionHeading* m_heading;
    ChoiceBox* m_method;
    CalibrationForm* m_form;
};

}  // namespace quantloupe::ui
