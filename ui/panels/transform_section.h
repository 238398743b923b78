// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is done to the network before it is quantized, and how far that moves the float network itself.

#include <QComboBox>

#include "document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class TransformSection : public QWidget {
    Q_OBJECT
  public:
    explicit TransformSection(Document* document, QWidget* parent = nullptr);

  private:
    void refresh();
    void edit(const QString& text, const TransformOptions& transforms);

    Document* m_document;
    SectionHeading* m_heading;
    ToggleSwitch *m_fold, *m_equalize, *m_highBias;
    QComboBox* m_relu6;
    QLabel *m_foldCount, *m_relu6Count, *m_sets;
};

}  // namespace quantloupe::ui
