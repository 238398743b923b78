// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings of the selected layers that override the network's settings: bits, calibration, a lock. Changes
// apply to all selected layers at once; differing values are shown as mixed.

#include "document/document.h"
#include "panels/calibration_form.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class OverrideSection : public QWidget {
    Q_OBJECT
  public:
    explicit OverrideSection(Document* document, QWidget* parent = nullptr);
    void copySettings();
    void pasteSettings();
    void clearSettings();

  private:
    void build();
    void observe();
    void refresh();
    void updateTensorTexts();
    void refreshBatchNorm();
    void refreshWeightRows();
    void refreshOutputRows();
    QString textWithoutQuantizer() const;
    std::vector<std::string> names() const;
    /// Consecutive changes by the same `control` are one undo step.
    void change(const QString& text, const std::function<void(LayerSettings&)>& change,
                QWidget* control = nullptr);
    /// `get` returns the layer's own value, if it has one: std::optional<Value>(const LayerSettings&).
    template <typename Value, typename Get>
    void showChoice(ChoiceBox* box, Get get, const QList<Value>& values, const QString& network);

    Document* m_document;
    SectionHeading* m_heading;
    SegmentedControl* m_lock;
    ChoiceBox *m_weightBits, *m_activationBits, *m_symmetric, *m_perChannel, *m_weightMethod, *m_biasBits,
        *m_method, *m_batchNorm;
    QLabel *m_activationLabel, *m_symmetricLabel, *m_methodLabel, *m_batchNormLabel;
    std::vector<QWidget*> m_weightRows;
    CalibrationForm* m_form;
    QLabel* m_note;
    bool m_mixedMethods = false;  ///< the selected layers have different calibration methods
    QPushButton *m_copy, *m_paste, *m_clear;
};

}  // namespace quantloupe::ui
