// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which images evaluate and which calibrate.

#include <QFrame>
#include <QLabel>

#include "document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class DataSection : public QWidget {
    Q_OBJECT
  public:
    explicit DataSection(Document* document, QWidget* parent = nullptr);

  Q_SIGNALS:
    void chooseDataRequested();
    void chooseCalibrationRequested();

  private:
    void refresh();

    Document* m_document;
    SectionHeading* m_heading;
    QLabel *m_thumbnails, *m_notice;
    ElidedLabel *m_path, *m_calibrationPath;
    QLabel *m_description, *m_calibration;
    QPushButton *m_choose, *m_chooseCalibration;
};

}  // namespace quantloupe::ui
