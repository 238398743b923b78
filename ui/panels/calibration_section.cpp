// SPDX-License-Identifier: Apache-2.0
#include "panels/calibration_section.h"

namespace quantloupe::ui {

CalibrationSection::CalibrationSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Calibration"));
    auto* rows = buildSection(this, m_heading, QStringLiteral("calibration"));
    auto* controls = new OptionControls(document, this);
    m_method =
        controls->addChoice(tr("Calibration method"), calibrationMethodTexts(), tr("Ranges by %1"),
                            [](QuantizationConfig& c) -> CalibrationMethod& { return c.calibration.method; });
    m_method->setMaxVisibleItems(20);
    rows->addWidget(makeRow(tr("Ranges"), m_method));
    m_form = new CalibrationForm;
    rows->addWidget(m_form);
    auto* samples = controls->addField<int>(
        tr("Calibration samples"), "calibration.samples", tr("Calibrate on %1 samples"),
        [](QuantizationConfig& c) -> int& { return c.calibration.samples; });
    rows->addWidget(makeRow(tr("Samples"), samples, tr("Spread evenly over the calibration data")));

    connect(m_form, &CalibrationForm::changed, this,
            [this](const CalibrationParameters& parameters, const QString& text) {
                m_document->edit(changeConfig(m_document->config(), text, [&](QuantizationConfig& c) {
                    c.calibration.parameters = parameters;
                }));
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
    if (index >= 0) {
        const auto& text = calibrationMethodTexts()[static_cast<std::size_t>(index)];
        m_method->setToolTip(text.meaning());
        m_heading->setRemark(m_heading->isOpen() ? QString() : text.name());
    }
    m_form->show(options.method, options.parameters);
}

}  // namespace quantloupe::ui
