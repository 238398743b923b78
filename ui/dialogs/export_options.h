// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options for writing the quantized model, for the dialogs that write it. Each switch is an undo step.

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class ExportOptionsRow : public QWidget {
    Q_OBJECT
  public:
    explicit ExportOptionsRow(Document* document, QWidget* parent = nullptr);

  private:
    void refresh();

    Document* m_document;
    ToggleSwitch *m_floatWeights, *m_fourBitTypes;
    QLabel* m_meaning;
};

}  // namespace quantloupe::ui
