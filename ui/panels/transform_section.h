// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transforms of the network before quantization, and how much they change the float network.

#include <QVBoxLayout>

#include "document/document.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

class TransformSection : public QWidget {
    Q_OBJECT
  public:
    explicit TransformSection(Document* document, QWidget* parent = nullptr);

  private:
    void buildEqualization(QVBoxLayout* rows);
    void observe();
    void refresh();
    void refreshEqualization();
    void refreshDrift();
    void edit(const QString& text, const TransformOptions& transforms);
    /// Sets one key of transforms.equalization; the field shows the error if the value is invalid.
    void enter(NumberField* field, const QString& what, const char* key, const QString& value);

    Document* m_document;
    SectionHeading* m_heading;
    ToggleSwitch *m_simplify, *m_fold, *m_highBias;
    ChoiceBox *m_relu6, *m_profile;
    QLabel *m_foldCount, *m_relu6Count, *m_sets;
    QWidget *m_options, *m_biasRow, *m_thresholdRow, *m_restRow;
    ToggleSwitch *m_adaptive, *m_appendBias, *m_excludeSkipped;
    NumberField *m_steps, *m_threshold, *m_rest;
    QWidget* m_stepsRow;
    QPushButton* m_equalizeModel;
};

}  // namespace quantloupe::ui
