// SPDX-License-Identifier: Apache-2.0
#include "panels/calibration_section.h"

#include "config/config_json.h"
#include "style/choice_texts.h"

namespace quantloupe::ui {

CalibrationSection::CalibrationSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Calibration"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("calibration"));
    m_method = new ChoiceBox(tr("Calibration method"));
    for (const auto& text : calibrationMethodTexts()) m_method->addChoice(text.name(), text.meaning());
    m_method->setMaxVisibleItems(20);
    rows->addWidget(makeRow(tr("Ranges"), m_method));
    m_form = new CalibrationForm;
    rows->addWidget(m_form);
    m_samples = new NumberField(tr("Calibration samples"));
    rows->addWidget(makeRow(tr("Samples"), m_samples, tr("Spread evenly over the calibration data")));

    connect(m_method, &QComboBox::activated, this, [this](int index) {
        const auto& chosen = calibrationMethodTexts()[static_cast<std::size_t>(index)];
        const auto change = [value = chosen.value](QuantizationConfig& c) { c.calibration.method = value; };
        if (!m_document->edit(
                changeConfig(m_document->config(), tr("Ranges by %1").arg(chosen.name()), change)))
            refresh();
    });
    connect(m_form, &CalibrationForm::changed, this,
            [this](const CalibrationParameters& parameters, const QString& text) {
                m_document->edit(changeConfig(m_document->config(), text, [&](QuantizationConfig& c) {
                    c.calibration.parameters = parameters;
                }));
            });
    connect(m_samples, &NumberField::entered, this, [this](const QString& text) {
        try {
            ConfigEdit edit{m_document->config(), tr("Calibrate on %1 samples").arg(text), {}};
            setConfigKey(edit.next, "calibration.samples", text.toStdString());
            m_document->edit(edit);
        } catch (const std::exception& error) {
            m_samples->setComplaint(QString::fromUtf8(error.what()));
        }
    });
    connect(document, &Document::configChanged, this, &CalibrationSection::refresh);
    connect(document, &Document::modelChanged, this, &CalibrationSection::refresh);
    refresh();
}

QWidget* CalibrationSection::reveal() {
    m_heading->setOpen(true);
    m_method->setFocus(Qt::ShortcutFocusReason);
    return m_method;
}

void CalibrationSection::refresh() {
    const CalibrationOptions& options = m_document->config().calibration;
    setEnabled(m_document->hasModel());
    const int index = indexOf(calibrationMethodTexts(), options.method);
    m_method->setCurrentIndex(index);
    if (index >= 0) {
        const auto& text = calibrationMethodTexts()[static_cast<std::size_t>(index)];
        m_method->setToolTip(text.meaning());
        m_heading->setRemark(m_heading->isOpen() ? QString() : text.name());
    }
    m_form->show(options.method, options.parameters);
    m_samples->setValue(QString::number(options.samples));
}

}  // namespace quantloupe::ui
