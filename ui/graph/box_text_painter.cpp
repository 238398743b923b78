// SPDX-License-Identifier: Apache-2.0
#include "graph/box_text_painter.h"

namespace quantloupe::ui {

namespace {

/// Abbreviates operators: "BatchNorm" fits where "BatchNormalization" does not.
QString shortOperator(const std::string& title) {
    QString text = QString::fromStdString(title);
    if (text.endsWith(QLatin1String("Normalization"))) text.chop(9);
    return text;
}

}  // namespace

void BoxTextPainter::paint(std::size_t i, const NodeLook& look, const QRectF& box) {
    const PictureNode& node = m_scene.picture->nodes[i];
    const QStringList details = m_zoom >= kDetailZoom && m_scene.details ? m_scene.details(i) : QStringList();
    if (node.isRow())
        paintRow(node, look, box, details);
    else if (!details.isEmpty())
        paintDetails(look, box, details);
    else
        paintUsual(node, look, box);
}

/// Layers that do not match the filter of the layer table are faded.
QColor BoxTextPainter::ink(const NodeLook& look, const QColor& color) const {
    return look.dimmed ? blended(color, m_theme.canvas, 0.4) : color;
}

/// Paints the number or the word that replaces it; returns its width.
double BoxTextPainter::paintNumber(const NodeLook& look, const QRectF& line, double numberSize,
                                   double wordSize) {
    if (look.number.isEmpty()) return 0;
    const bool word = look.heat < 0;
    m_painter.setPen(ink(look, look.quiet || m_scene.faded ? m_theme.muted : m_theme.text));
    return m_texts.draw(m_painter, m_grid, look.number,
                        word ? TextCache::Face::Subtitle : TextCache::Face::Number,
                        word ? wordSize : numberSize, line, true) +
           7;
}

/// Paints one line. From kDetailZoom on, smaller letters leave space for the name.
void BoxTextPainter::paintRow(const PictureNode& node, const NodeLook& look, const QRectF& box,
                              const QStringList& details) {
    if (m_zoom < kRowTextZoom) return;
    const double size = details.isEmpty() ? box.height() * 0.7 : detailSize() + 1;
    QRectF line = box.adjusted(details.isEmpty() ? 13 : 10, 0, look.heat < 0 ? -10 : -18, 0);
    line.setRight(line.right() - paintNumber(look, line, size, size));
    m_painter.setPen(ink(look, m_theme.text));
    const QString title = details.isEmpty() ? shortOperator(node.title) : details.front();
    const double width = m_texts.draw(m_painter, m_grid, title, TextCache::Face::Subtitle, size, line);
    if (details.size() < 2) return;
    line.setLeft(line.left() + width + 6);
    m_painter.setPen(ink(look, m_theme.muted));
    m_texts.draw(m_painter, m_grid, details[1], TextCache::Face::Subtitle, size, line, false,
                 Qt::ElideMiddle);
}

/// About ten pixels on the screen, so that a higher zoom has space for more lines.
double BoxTextPainter::detailSize() const { return m_zoom >= 3.5 ? 3 : m_zoom >= 2.6 ? 4 : 5; }

/// Paints type and number, then as many lines as fit.
void BoxTextPainter::paintDetails(const NodeLook& look, const QRectF& box, const QStringList& details) {
    const double size = detailSize(), title = size + 2;
    QRectF line(box.left() + 10, box.top() + 1.5, box.width() - 10 - 18, title * 1.3);
    const double number = paintNumber(look, line, title, size + 1);
    m_painter.setPen(ink(look, m_theme.text));
    m_texts.draw(m_painter, m_grid, details.front(), TextCache::Face::Title, title,
                 line.adjusted(0, 0, -number, 0));
    line.moveTop(line.bottom());
    line.setHeight(size * 1.4);
    m_painter.setPen(ink(look, m_theme.muted));
    for (qsizetype k = 1; k < details.size() && line.bottom() < box.bottom(); ++k) {
        m_texts.draw(m_painter, m_grid, details[k], TextCache::Face::Subtitle, size, line, false,
                     k == 1 ? Qt::ElideMiddle : Qt::ElideRight);
        line.translate(0, line.height());
    }
}

void BoxTextPainter::paintUsual(const PictureNode& node, const NodeLook& look, const QRectF& box) {
    const double title = box.height() * 0.345, subtitle = box.height() * 0.28;
    const double left = box.left() + 13;
    double right = box.right() - 18;
    const double middle = box.top() + box.height() * 0.5;
    right -=
        paintNumber(look, QRectF(left, box.top(), right - left, middle - box.top() + 2), title, subtitle);
    m_painter.setPen(ink(look, m_theme.text));
    m_texts.draw(m_painter, m_grid, shortOperator(node.title), TextCache::Face::Title, title,
                 QRectF(left, box.top(), right - left, middle - box.top() + 2));
    m_painter.setPen(ink(look, m_theme.muted));
    m_texts.draw(m_painter, m_grid, QString::fromStdString(node.subtitle), TextCache::Face::Subtitle,
                 subtitle,
                 QRectF(left, middle - (look.group ? 2 : 0), box.right() - 18 - left,
                        box.bottom() - middle - 3 - (look.group ? 2 : 0)),
                 false, Qt::ElideMiddle);
}

}  // namespace quantloupe::ui
