// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requirements of AMD's NPU in addition to power-of-two scales: its own operators, written into the float
// network, and rules for the positions of scales. Collapsed by default.

#include "document/document.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

class NpuSection : public QWidget {
    Q_OBJECT
  public:
    explicit NpuSection(Document* document, QWidget* parent = nullptr);

  private:
    using Flag = bool& (*)(QuantizationConfig&);
    void addSwitch(QLayout* layout, const QString& name, const QString& meaning, Flag flag);
    void buildOperators(QLayout* rows);
    void buildPositions(QLayout* rows);
    void setAllPositions(bool on);
    void refresh();

    Document* m_document;
    SectionHeading* m_heading;
    QList<std::pair<ToggleSwitch*, Flag>> m_operators, m_positions;
    QList<std::pair<ToggleSwitch*, Flag>>* m_filled = nullptr;  ///< which of them addSwitch() fills
    QPushButton* m_all;
    NumberField* m_loops;
    QWidget* m_loopsRow;
    QLabel* m_warning;
};

}  // namespace quantloupe::ui
