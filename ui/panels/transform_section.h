// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transforms of the network before quantization, and how much they change the float network.

#include <QVBoxLayout>

#include "panels/option_controls.h"

namespace quantloupe::ui {

class TransformSection : public QWidget {
    Q_OBJECT
  public:
    explicit TransformSection(Document* document, QWidget* parent = nullptr);

  private:
    void buildEqualization(QVBoxLayout* rows);
    void buildEqualizationOptions(QVBoxLayout* rows);
    void refresh();
    void refreshEqualization();
    void refreshDrift();

    Document* m_document;
    OptionControls* m_controls;
    SectionHeading* m_heading;
    QLabel *m_foldCount, *m_relu6Count, *m_sets;
    QWidget *m_options, *m_stepsRow, *m_restRow, *m_thresholdRow, *m_appendBias;
};

}  // namespace quantloupe::ui
