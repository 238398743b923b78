// SPDX-License-Identifier: Apache-2.0
#pragma once
// All settings: data, scheme, transforms, and layers that stay in float.

#include "document/document.h"
#include "panels/amct_panel.h"
#include "panels/data_section.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class CalibrationSection;
class SchemeSection;

class TuningPanel : public PanelScrollArea {
    Q_OBJECT
  public:
    explicit TuningPanel(Document* document, QWidget* parent = nullptr);

    /// Scrolls to the controls and gives them the keyboard focus.
    void reveal(TuningPlace place);
    /// Wide enough for its sections, so that nothing is cut off or scrolls horizontally.
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void chooseDataRequested(quantloupe::ui::DataForm form);
    void chooseCalibrationRequested(quantloupe::ui::DataForm form);
    void preprocessRequested();
    void labelsRequested();
    void workflowRequested();  ///< AMCT's

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QWidget* quantizedBanner(int unit);

    SchemeSection* m_scheme = nullptr;
    CalibrationSection* m_calibration = nullptr;
    QFrame* m_quantized = nullptr;
    QWidget* m_sections = nullptr;  ///< sections with settings
};

}  // namespace quantloupe::ui
