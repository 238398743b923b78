// SPDX-License-Identifier: Apache-2.0
#include "graph/text_cache.h"

#include <QFontMetricsF>
#include <QTextLayout>
#include <QTextOption>
#include <algorithm>
#include <cmath>

#include "style/elided_name.h"
#include "style/theme.h"

namespace quantloupe::ui {

namespace {
constexpr qsizetype kMaxTexts = 20'000;  // about 10 MB
}

void TextCache::setFont(const QFont& base) {
    if (base == m_base) return;
    m_base = base;
    m_fonts.clear();
    m_texts.clear();
}

const QFont& TextCache::font(Face face, int pixels) {
    const auto known = m_fonts.find({face, pixels});
    if (known != m_fonts.end()) return known->second;
    QFont font = face == Face::Number ? numberFont(m_base) : m_base;
    font.setPixelSize(pixels);
    font.setWeight(face == Face::Subtitle ? QFont::Normal : QFont::DemiBold);
    font.setHintingPreference(QFont::PreferNoHinting);  // widths must not change with the zoom
    return m_fonts.emplace(std::pair(face, pixels), font).first->second;
}

const ShapedText& TextCache::shaped(const QString& text, Face face, double pixels, double width,
                                    Qt::TextElideMode elide) {
    const int size = std::max(1, static_cast<int>(std::lround(pixels)));
    const Key key{text, face, size, static_cast<int>(std::floor(width)), static_cast<int>(elide)};
    if (const auto known = m_texts.constFind(key); known != m_texts.constEnd()) return *known;
    if (m_texts.size() >= kMaxTexts) m_texts.clear();
    const QFont& used = font(face, size);
    const QString shortened = elide == Qt::ElideNone     ? text
                              : elide == Qt::ElideMiddle ? elidedName(text, QFontMetricsF(used), width)
                                                         : QFontMetricsF(used).elidedText(text, elide, width);
    QTextLayout layout(shortened, used);
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    layout.setTextOption(option);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    if (line.isValid()) line.setLineWidth(1e6);
    layout.endLayout();
    ShapedText result;
    if (line.isValid()) {
        result.runs = layout.glyphRuns();
        result.width = line.naturalTextWidth();
        result.height = line.ascent() + line.descent();
    }
    return *m_texts.insert(key, result);
}

double TextCache::draw(QPainter& painter, const DeviceGrid& grid, const QString& text, Face face,
                       double pixels, const QRectF& line, bool right, Qt::TextElideMode elide) {
    const ShapedText& words = shaped(text, face, pixels, line.width(), elide);
    // On whole pixels, so that the shapes of glyphs do not change while the graph moves.
    const QPointF place = grid.snapped(
        QPointF(right ? line.right() - words.width : line.left(), line.center().y() - words.height / 2));
    for (const QGlyphRun& run : words.runs) painter.drawGlyphRun(place, run);
    return words.width;
}

}  // namespace quantloupe::ui
