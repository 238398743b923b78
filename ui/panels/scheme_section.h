// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preset, and how weights, activations and biases are quantized.

#include <QVBoxLayout>

#include "panels/option_controls.h"

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
    void buildPresets(QVBoxLayout* rows);
    void buildBasic(QVBoxLayout* rows);
    void buildAdvanced(QVBoxLayout* rows);
    void refresh();

    Document* m_document;
    OptionControls *m_basic, *m_advanced;
    SectionHeading *m_heading, *m_more;
    ChoiceBox *m_preset, *m_weightMethod;
    ToggleSwitch *m_restricted, *m_products;
    QPushButton* m_workflow;
    QLabel* m_own;  ///< how many layers these settings do not apply to
};

}  // namespace quantloupe::ui
