// SPDX-License-Identifier: Apache-2.0
#include "panels/tuning_panel.h"

#include <QEvent>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "dialogs/documentation_window.h"
#include "model/quantized_model.h"
#include "panels/calibration_section.h"
#include "panels/data_section.h"
#include "panels/npu_section.h"
#include "panels/refine_section.h"
#include "panels/scheme_section.h"
#include "panels/skip_section.h"
#include "panels/transform_section.h"
#include "widgets/aligned_rows.h"

namespace quantloupe::ui {

TuningPanel::TuningPanel(Document* document, QWidget* parent) : PanelScrollArea(parent) {
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    auto* column = new QVBoxLayout(body);
    const int unit = fontMetrics().height();
    column->setContentsMargins(unit, unit * 4 / 5, unit, unit);
    column->setSpacing(unit * 9 / 10);
    auto* dataSection = new DataSection(document);
    connect(dataSection, &DataSection::chooseDataRequested, this, &TuningPanel::chooseDataRequested);
    connect(dataSection, &DataSection::chooseCalibrationRequested, this,
            &TuningPanel::chooseCalibrationRequested);
    connect(dataSection, &DataSection::preprocessRequested, this, &TuningPanel::preprocessRequested);
    connect(dataSection, &DataSection::labelsRequested, this, &TuningPanel::labelsRequested);
    setDocumentation(dataSection, "command_line.md#data");
    column->addWidget(dataSection);
    column->addWidget(quantizedBanner(unit));
    m_sections = new QWidget;
    auto* sections = new QVBoxLayout(m_sections);
    sections->setContentsMargins(0, 0, 0, 0);
    sections->setSpacing(column->spacing());
    m_scheme = new SchemeSection(document);
    m_calibration = new CalibrationSection(document);
    connect(m_scheme, &SchemeSection::workflowRequested, this, &TuningPanel::workflowRequested);
    sections->addWidget(m_scheme);
    sections->addWidget(m_calibration);
    auto* transforms = new TransformSection(document);
    setDocumentation(transforms, "equalization.md");
    setDocumentation(m_calibration, "calibration.md");
    setDocumentation(m_scheme, "calibration.md");
    setDocumentation(this, "window.md#tuning-panel-left");
    sections->addWidget(transforms);
    sections->addWidget(new NpuSection(document));
    sections->addWidget(new RefineSection(document));
    sections->addWidget(new SkipSection(document));
    alignSections(m_sections);
    column->addWidget(m_sections);
    column->addStretch(1);
    setWidget(body);
    body->installEventFilter(this);
    const auto refresh = [this, document] {
        const bool quantized = document->hasModel() && quantizationOperators(*document->graph()) > 0;
        m_quantized->setVisible(quantized);
        m_sections->setEnabled(!quantized);
    };
    connect(document, &Document::modelChanged, this, refresh);
    refresh();
}

/// Shown for a model that is already quantized, whose results no setting changes.
QWidget* TuningPanel::quantizedBanner(int unit) {
    m_quantized = new QFrame;
    m_quantized->setObjectName(QStringLiteral("banner"));
    auto* rows = new QVBoxLayout(m_quantized);
    rows->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 3);
    auto* text = makeLabel(tr("This model is already quantized. It is shown and evaluated as it is, and the "
                              "settings below have no effect. To tune, open the float model that it was "
                              "made from; File \u2192 Import from Another Tool imports the configuration of "
                              "a model quantized by Quantloupe."),
                           "", 0.95);
    text->setWordWrap(true);
    rows->addWidget(text);
    return m_quantized;
}

void TuningPanel::reveal(TuningPlace place) {
    QWidget* control =
        place == TuningPlace::Ranges ? m_calibration->reveal() : m_scheme->revealWeightScales();
    // A section that was collapsed gets its position only in the next layout.
    QTimer::singleShot(0, control, [this, control] { ensureWidgetVisible(control, 0, height() / 3); });
}

QSize TuningPanel::minimumSizeHint() const {
    const int bar = verticalScrollBar()->sizeHint().width(), unit = fontMetrics().height();
    // Wide enough for most texts, so that the graph is not resized whenever one changes.
    return {std::max(widget()->minimumSizeHint().width(), unit * 23) + bar, unit * 10};
}

bool TuningPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return PanelScrollArea::eventFilter(watched, event);
}

}  // namespace quantloupe::ui
