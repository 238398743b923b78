// SPDX-License-Identifier: Apache-2.0
#include "graph/zoom_buttons.h"

#include <QHBoxLayout>

namespace quantloupe::ui {

ZoomButtons::ZoomButtons(GraphCanvas* canvas, QWidget* parent) : QWidget(parent), m_canvas(canvas) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    const auto add = [&](const QString& text, const QString& name, auto act) {
        auto* button = new QToolButton;
        button->setText(text);
        button->setAccessibleName(name);
        button->setToolTip(name);
        button->setFocusPolicy(Qt::TabFocus);
        connect(button, &QToolButton::clicked, canvas, act);
        row->addWidget(button);
        return button;
    };
    add(QStringLiteral("\u2212"), tr("Zoom out"), [canvas] { canvas->view()->zoomStep(0.8); });
    m_zoom = add({}, tr("Zoom. Click to show the actual size"), [canvas] { canvas->view()->actualSize(); });
    m_zoom->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("0000 %")));
    add(QStringLiteral("+"), tr("Zoom in"), [canvas] { canvas->view()->zoomStep(1.25); });
    m_fit = add(tr("Fit"), tr("Show the whole graph"), [canvas] { canvas->view()->fitAll(); });
    connect(canvas, &GraphCanvas::viewChanged, this, &ZoomButtons::showZoom);
    showZoom();
}

void ZoomButtons::setNarrow(bool narrow) {
    m_zoom->setVisible(!narrow);
    m_fit->setVisible(!narrow);
}

void ZoomButtons::showZoom() {
    const double percent = 100 * m_canvas->transform().zoom;
    m_zoom->setText(tr("%1 %").arg(percent, 0, 'f', percent < 9.95 ? 1 : 0));
    m_zoom->setAccessibleDescription(m_zoom->text());
}

}  // namespace quantloupe::ui
