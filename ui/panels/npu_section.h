// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requirements of AMD's NPU in addition to power-of-two scales: its own operators, written into the float
// network, and rules for the positions of scales. Collapsed by default.

#include "panels/option_controls.h"

namespace quantloupe::ui {

class NpuSection : public QWidget {
    Q_OBJECT
  public:
    explicit NpuSection(Document* document, QWidget* parent = nullptr);

  private:
    ToggleSwitch* makeSwitch(OptionControls* controls, const QString& name, const QString& meaning,
                             OptionOf<bool> option);
    void buildOperators(QLayout* rows);
    void buildPositions(QLayout* rows);
    void setAllPositions(bool on);
    void refresh();

    Document* m_document;
    OptionControls *m_operators, *m_positions;
    std::vector<OptionOf<bool>> m_rules;  ///< the position rules
    SectionHeading* m_heading;
    QPushButton* m_all;
    QWidget* m_loopsRow;
    QLabel* m_warning;
};

}  // namespace quantloupe::ui
