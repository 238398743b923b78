// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preset, bits, granularity, symmetry, calibration method.

#include <QComboBox>

#include "document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SchemeSection : public QWidget {
    Q_OBJECT
  public:
    explicit SchemeSection(Document* document, QWidget* parent = nullptr);

  private:
    void refresh();
    template <typename Change>
    void edit(const QString& text, Change change, int mergeKey = -1);

    Document* m_document;
    SectionHeading* m_heading;
    QComboBox *m_preset, *m_method;
    SegmentedControl *m_bits, *m_activationBits;
    ToggleSwitch *m_perChannel, *m_symmetric;
};

}  // namespace quantloupe::ui
