// SPDX-License-Identifier: Apache-2.0
#include "panels/task_picture.h"

#include <QMouseEvent>
#include <QPainter>

#include "style/theme.h"

namespace quantloupe::ui {

namespace {

/// Draws the classes as colors; class 0, which is usually the background, is transparent.
QImage coloredClasses(const LabelImage& map) {
    constexpr int kAlpha = 150;
    if (map.classes.empty()) return {};
    QImage image(map.width, map.height, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    for (int y = 0; y < map.height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < map.width; ++x) {
            const std::uint16_t index =
                map.classes[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width) +
                            static_cast<std::size_t>(x)];
            if (index == 0 || index == kIgnoredClass) continue;
            QColor color = classColor(index);
            color.setAlpha(kAlpha);
            line[x] = color.rgba();
        }
    }
    return image;
}

QString nameOf(const TaskPredictions& predictions, std::int32_t index) {
    const auto i = static_cast<std::size_t>(index);
    return i < predictions.classNames.size() ? QString::fromStdString(predictions.classNames[i])
                                             : QString::number(index);
}

}  // namespace

QColor classColor(std::int32_t index) {
    constexpr int kGoldenAngle = 137;  // adjacent classes get very different hues
    return QColor::fromHsv((index * kGoldenAngle) % 360, 200, 235);
}

TaskPicture::TaskPicture(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setMinimumHeight(fontMetrics().height() * 6);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Predictions of the float and the quantized network for this image"));
    setToolTip(tr("Click to enlarge"));
}

void TaskPicture::setPicture(const QImage& image, const std::optional<TaskPredictions>& predictions) {
    m_image = image;
    m_predictions = predictions;
    m_floatClasses = predictions ? coloredClasses(predictions->floatMap) : QImage();
    m_quantizedClasses = predictions ? coloredClasses(predictions->quantizedMap) : QImage();
    update();
}

void TaskPicture::paintHalf(QPainter& painter, const QRectF& area, const QString& title,
                            const std::vector<Detection>& detections, const QImage& classes) const {
    const Theme& colors = themeOf(palette());
    const double heading = fontMetrics().height() * 1.2;
    painter.setPen(colors.muted);
    painter.drawText(QRectF(area.topLeft(), QSizeF(area.width(), heading)), Qt::AlignCenter, title);
    const QSizeF whole =
        m_image.isNull() ? QSizeF(m_predictions->width, m_predictions->height) : QSizeF(m_image.size());
    if (whole.isEmpty()) return;
    const QSizeF size = whole.scaled(area.width(), area.height() - heading, Qt::KeepAspectRatio);
    const QRectF place(area.left() + (area.width() - size.width()) / 2, area.top() + heading, size.width(),
                       size.height());
    const double scale = size.width() / whole.width();
    painter.save();
    painter.setClipRect(place);
    if (m_image.isNull())
        painter.fillRect(place, colors.soft);
    else
        painter.drawImage(place, m_image);
    const auto toPlace = [&](double x, double y, double width, double height) {
        return QRectF(place.left() + x * scale, place.top() + y * scale, width * scale, height * scale);
    };
    if (!classes.isNull())
        painter.drawImage(
            toPlace(m_predictions->x, m_predictions->y, m_predictions->width, m_predictions->height),
            classes);
    painter.setBrush(Qt::NoBrush);
    for (const Detection& label : m_predictions->labels) {
        painter.setPen(QPen(Qt::white, 1, Qt::DashLine));
        painter.drawRect(toPlace(label.x, label.y, label.width, label.height));
    }
    const QFont small = scaledFont(font(), 0.8);
    painter.setFont(small);
    const QFontMetricsF metrics(small);
    for (const Detection& detection : detections) {
        if (detection.score < kShownScore) continue;
        const QRectF box = toPlace(detection.x, detection.y, detection.width, detection.height);
        const QColor color = classColor(detection.category);
        painter.setPen(QPen(color, 2));
        painter.drawRect(box);
        const QString text = nameOf(*m_predictions, detection.category) + QLatin1Char(' ') +
                             QString::number(detection.score, 'f', 2);
        const QRectF tag(box.left(), std::max(place.top(), box.top() - metrics.height()),
                         metrics.horizontalAdvance(text) + 4, metrics.height());
        painter.fillRect(tag, color);
        painter.setPen(Qt::black);
        painter.drawText(tag, Qt::AlignCenter, text);
    }
    painter.restore();
}

void TaskPicture::paintEvent(QPaintEvent*) {
    if (!m_predictions) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    const double gap = fontMetrics().height() / 2.0, half = (width() - gap) / 2;
    paintHalf(painter, QRectF(0, 0, half, height()), tr("float"), m_predictions->floating, m_floatClasses);
    paintHalf(painter, QRectF(half + gap, 0, half, height()), tr("quantized"), m_predictions->quantized,
              m_quantizedClasses);
}

void TaskPicture::mouseReleaseEvent(QMouseEvent*) {
    if (m_predictions) Q_EMIT clicked();
}

}  // namespace quantloupe::ui
