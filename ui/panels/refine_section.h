// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is done once the quantizers are known: bias correction and learned rounding. Rounding takes its time: how far it is, and a
// way out that leaves the configuration without it.

#include <QProgressBar>

#include "document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class RefineSection : public QWidget {
    Q_OBJECT
  public:
    explicit RefineSection(Document* document, QWidget* parent = nullptr);

  private:
    void refresh();
    void showProgress(const QString& stage, std::size_t done, std::size_t total);
    void stop();

    Document* m_document;
    SectionHeading* m_heading;
    SegmentedControl* m_bias;
    ToggleSwitch* m_rounding;
    QLabel* m_remark;
    QProgressBar* m_bar;
    QPushButton* m_stop;
};

}  // namespace quantloupe::ui
