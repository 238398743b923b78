// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preset, and how weights, activations and biases are quantized.

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SchemeSection : public QWidget {
    Q_OBJECT
  public:
    explicit SchemeSection(Document* document, QWidget* parent = nullptr);
    /// Expands the advanced settings and focuses the weight scale method, which is returned.
    QWidget* revealWeightScales();

  Q_SIGNALS:
    void workflowRequested();

  private:
    void build();
    void observe();
    void refresh();
    template <typename Change>
    void edit(const QString& text, Change change, int mergeKey = -1);
    /// A function that returns the flag of the configuration that a switch sets.
    using Flag = bool& (*)(QuantizationConfig&);
    ToggleSwitch* addSwitch(QLayout* layout, const QString& name, const QString& toolTip, const QString& off,
                            Flag flag);

    Document* m_document;
    SectionHeading *m_heading, *m_more;
    ChoiceBox *m_preset, *m_weightMethod, *m_biasBits, *m_placement, *m_operators, *m_rounding;
    SegmentedControl *m_bits, *m_activationBits;
    QList<std::pair<ToggleSwitch*, Flag>> m_switches;
    QWidget *m_restricted = nullptr, *m_products = nullptr;
    QPushButton* m_workflow;
    QLabel* m_own;  ///< how many layers these settings do not apply to
};

}  // namespace quantloupe::ui
