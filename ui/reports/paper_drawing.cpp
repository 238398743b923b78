// SPDX-License-Identifier: Apache-2.0
#include "reports/paper_drawing.h"

#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <QXmlStreamReader>
#include <algorithm>

namespace quantloupe::ui {
namespace {

constexpr double kGap = 10;         ///< between columns
constexpr double kSharpness = 2.5;  ///< pixels per unit
constexpr double kSmallest = 0.6;   ///< smallest scale that is still readable on paper
constexpr int kDrawing = QTextFormat::UserProperty + 1, kPageNumber = QTextFormat::UserProperty + 2;

struct Span {
    double top = 0, bottom = 0;
};

std::vector<Span> boxesOf(const QByteArray& svg) {
    std::vector<Span> boxes;
    QXmlStreamReader reader(svg);
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == QLatin1String("rect")) {
            const double top = reader.attributes().value(QLatin1String("y")).toDouble();
            boxes.push_back({top, top + reader.attributes().value(QLatin1String("height")).toDouble()});
        }
    std::ranges::sort(boxes, {}, &Span::top);
    return boxes;
}

}  // namespace

PaperDrawing::PaperDrawing(const QByteArray& svg) : m_drawing(std::make_unique<QSvgRenderer>(svg)) {
    m_size = m_drawing->viewBoxF().size();
    if (!m_drawing->isValid() || m_size.isEmpty()) return;
    m_scale = std::min(1.0, kWidth / m_size.width());
    if (m_size.height() * m_scale > kHeight) {
        m_scale = std::min(m_scale, std::max(kWidth / 4 - kGap, kSmallest * m_size.width()) / m_size.width());
        m_columns =
            std::max<std::size_t>(1, static_cast<std::size_t>(kWidth / (m_size.width() * m_scale + kGap)));
    }
    const double top = m_drawing->viewBoxF().top();
    std::vector<Span> boxes;
    for (const Span& box : boxesOf(svg))
        if ((box.bottom - box.top) * m_scale < kHeight / 2)
            boxes.push_back({(box.top - top) * m_scale, (box.bottom - top) * m_scale});
    m_size *= m_scale;
    std::size_t first = 0;
    for (double cut = 0; cut < m_size.height();) {
        m_cuts.push_back(cut);
        double next = cut + kHeight;
        while (first < boxes.size() && boxes[first].bottom <= cut) ++first;
        // Splits above the boxes that would be cut, unless nothing would be left on the page.
        for (std::size_t i = first; i < boxes.size() && boxes[i].top < next; ++i)
            if (boxes[i].bottom > next && boxes[i].top > cut + kHeight / 4) {
                next = boxes[i].top - 2;
                i = first - 1;  // because this may cut other boxes
            }
        cut = next;
    }
}

PaperDrawing::PaperDrawing(PaperDrawing&& other) noexcept = default;
PaperDrawing::~PaperDrawing() = default;

double PaperDrawing::end(std::size_t column) const {
    return column + 1 < m_cuts.size() ? m_cuts[column + 1] : m_size.height();
}

QSizeF PaperDrawing::pageSize(std::size_t page) const {
    double height = 0;
    const std::size_t begin = page * m_columns, last = std::min(begin + m_columns, m_cuts.size());
    for (std::size_t c = begin; c < last; ++c) height = std::max(height, end(c) - m_cuts[c]);
    return {static_cast<double>(last - begin) * (m_size.width() + (m_columns > 1 ? kGap : 0)), height};
}

void PaperDrawing::paint(QPainter& painter, QPointF at, std::size_t page) const {
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t c = page * m_columns; c < std::min((page + 1) * m_columns, m_cuts.size()); ++c) {
        painter.save();
        painter.translate(at);
        painter.setClipRect(QRectF(0, 0, m_size.width(), end(c) - m_cuts[c]), Qt::IntersectClip);
        painter.translate(0, -m_cuts[c]);
        m_drawing->render(&painter, QRectF({}, m_size));
        painter.restore();
        at.rx() += m_size.width() + kGap;
    }
}

QTextCharFormat PaperDrawings::format(std::size_t drawing, std::size_t page) {
    QTextCharFormat format;
    format.setObjectType(kObject);
    format.setProperty(kDrawing, static_cast<qulonglong>(drawing));
    format.setProperty(kPageNumber, static_cast<qulonglong>(page));
    return format;
}

QSizeF PaperDrawings::intrinsicSize(QTextDocument*, int, const QTextFormat& format) {
    return m_drawings[format.property(kDrawing).toULongLong()].pageSize(
        format.property(kPageNumber).toULongLong());
}

void PaperDrawings::drawObject(QPainter* painter, const QRectF& rect, QTextDocument*, int,
                               const QTextFormat& format) {
    const PaperDrawing& drawing = m_drawings[format.property(kDrawing).toULongLong()];
    QImage image((rect.size() * kSharpness).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter pixels(&image);
    pixels.scale(kSharpness, kSharpness);
    drawing.paint(pixels, {}, format.property(kPageNumber).toULongLong());
    pixels.end();
    painter->drawImage(rect, image);
}

}  // namespace quantloupe::ui
