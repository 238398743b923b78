// SPDX-License-Identifier: Apache-2.0
#include "graph/minimap.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "graph/graph_painter.h"

namespace quantloupe::ui {

Minimap::Minimap(GraphCanvas* canvas, QWidget* parent) : QWidget(parent), m_canvas(canvas) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Minimap of the whole graph. Click or drag to move there."));
    connect(canvas, &GraphCanvas::viewChanged, this, qOverload<>(&QWidget::update));
    connect(canvas, &GraphCanvas::previewChanged, this, qOverload<>(&QWidget::update));
    connect(canvas, &GraphCanvas::looksChanged, this, [this] {
        m_cache = QPixmap();
        update();
    });
}

QSize Minimap::sizeHint() const { return {qRound(fontMetrics().height() * 3.8), 100}; }

/// A graph in columns has no separate rows for bars. It uses all of the space, and its boxes show the heat.
bool Minimap::wide() const {
    const QRectF bounds = m_canvas->index().bounds();
    return bounds.width() > 0.5 * bounds.height();
}

QRectF Minimap::states() const { return QRectF(rect()).adjusted(6, 6, wide() ? -6 : -width() * 0.48, -6); }
QRectF Minimap::bars() const {
    return QRectF(states().right() + 5, 6, width() - states().right() - 10, height() - 12);
}

QRectF Minimap::mapped(const QRectF& scene) const {
    const QRectF bounds = m_canvas->index().bounds();
    if (bounds.isEmpty()) return {};
    const QRectF area = states();
    // A short graph keeps its aspect ratio; a long graph is compressed to the height.
    const double scaleX = area.width() / bounds.width();
    const double scaleY = std::min(area.height() / bounds.height(), scaleX * 1.6);
    return {area.left() + (scene.left() - bounds.left()) * scaleX,
            area.top() + (scene.top() - bounds.top()) * scaleY, scene.width() * scaleX,
            scene.height() * scaleY};
}

void Minimap::rebuild() {
    m_cache = QPixmap(size() * devicePixelRatioF());
    m_cache.setDevicePixelRatio(devicePixelRatioF());
    m_cache.fill(Qt::transparent);
    const Picture* picture = m_canvas->picture();
    const auto& looks = m_canvas->looks();
    if (!picture || looks.size() != picture->nodes.size()) return;
    QPainter painter(&m_cache);
    const QRectF right = bars();
    for (std::size_t i = 0; i < looks.size(); ++i) {
        QRectF box = mapped(toRectF(picture->nodes[i].box));
        box.setHeight(std::max(box.height(), 1.0));
        QColor color = looks[i].outline;
        color.setAlpha(looks[i].hatched ? 255 : 200);
        const NodeLook& heat = heatLook(*picture, looks, i);
        if (wide()) {  // as in the zoomed-out graph: state at the left, heat at the right
            box.setWidth(std::max(box.width(), 1.0));
            painter.fillRect(box, color);
            if (heat.heat >= 0)
                painter.fillRect(box.adjusted(box.width() * kHeatFrom, 0, 0, 0), heat.heatColor);
            continue;
        }
        painter.fillRect(box, color);
        if (heat.heat < 0) continue;
        painter.fillRect(QRectF(right.left(), box.top(), std::max(2.0, right.width() * heat.heat),
                                std::max(2.0, box.height())),
                         heat.heatColor);
    }
}

void Minimap::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    if (m_cache.isNull() || m_cache.size() != size() * devicePixelRatioF()) rebuild();
    painter.drawPixmap(0, 0, m_cache);
    if (!m_canvas->picture()) return;
    for (std::size_t i = 0; i < m_canvas->previewed().size(); ++i) {
        if (!m_canvas->previewed()[i]) continue;
        if (const auto at = m_canvas->index().boxOf(NodeId(i))) {
            QRectF box = mapped(toRectF(m_canvas->picture()->nodes[*at].box));
            box.setHeight(std::max(box.height(), 1.5));
            painter.fillRect(box, colors.inFloat);
        }
    }
    QRectF view = mapped(m_canvas->visibleScene());
    if (!wide()) view.setLeft(3), view.setRight(width() - 3);
    if (view.height() < 4) view.setHeight(4);
    view = view.intersected(QRectF(rect()).adjusted(3, 3, -3, -3));
    QColor fill = colors.accent;
    fill.setAlpha(35);
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(view, 3, 3);
}

void Minimap::moveTo(QPointF position) {
    const QRectF bounds = m_canvas->index().bounds();
    const QRectF whole = mapped(bounds);
    if (whole.isEmpty()) return;
    const double share = std::clamp((position.y() - whole.top()) / whole.height(), 0.0, 1.0);
    const double x =
        whole.width() > 0 && m_canvas->visibleScene().width() < bounds.width()
            ? bounds.left() +
                  std::clamp((position.x() - whole.left()) / whole.width(), 0.0, 1.0) * bounds.width()
            : bounds.center().x();
    m_canvas->view()->centerScene({x, bounds.top() + share * bounds.height()});
}

void Minimap::mousePressEvent(QMouseEvent* event) { moveTo(event->position()); }
void Minimap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) moveTo(event->position());
}

void Minimap::resizeEvent(QResizeEvent*) { m_cache = QPixmap(); }

}  // namespace quantloupe::ui
