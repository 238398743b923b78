// SPDX-License-Identifier: Apache-2.0
#include "panels/tuning_panel.h"

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>

#include "panels/calibration_section.h"
#include "panels/data_section.h"
#include "panels/npu_section.h"
#include "panels/refine_section.h"
#include "panels/scheme_section.h"
#include "panels/skip_section.h"
#include "panels/suggestion_section.h"
#include "panels/transform_section.h"

namespace quantloupe::ui {

TuningPanel::TuningPanel(Document* document, QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("panel"));
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
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
    column->addWidget(dataSection);
    column->addWidget(new SchemeSection(document));
    column->addWidget(new CalibrationSection(document));
    column->addWidget(new TransformSection(document));
    column->addWidget(new NpuSection(document));
    column->addWidget(new RefineSection(document));
    column->addWidget(new SkipSection(document));
    column->addWidget(new SuggestionSection(document));
    column->addStretch(1);
    setWidget(body);
    body->installEventFilter(this);
}

QSize TuningPanel::minimumSizeHint() const {
    const int bar = verticalScrollBar()->sizeHint().width();
    return {widget()->minimumSizeHint().width() + bar, fontMetrics().height() * 10};
}

bool TuningPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

}  // namespace quantloupe::ui
