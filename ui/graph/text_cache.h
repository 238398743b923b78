// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caches shaped and elided texts of the graph, because shaping costs more than painting and most boxes show
// the same text in every frame. Positions are in scene units, so one entry is valid for all zoom levels. GUI
// thread, one per canvas.

#include <QFont>
#include <QGlyphRun>
#include <QHash>
#include <QPainter>
#include <QString>
#include <map>

#include "graph/device_grid.h"

namespace quantloupe::ui {

/// One line, shortened to its width.
struct ShapedText {
    QList<QGlyphRun> runs;
    double width = 0, height = 0;
};

class TextCache {
  public:
    enum class Face { Title, Subtitle, Number };

    /// Clears the cache if the font has changed.
    void setFont(const QFont& base);
    /// Returns a shaped text. `pixels`: the font size in scene units. Valid until the next call. ElideMiddle
    /// is for names of layers (style/elided_name.h).
    const ShapedText& shaped(const QString& text, Face face, double pixels, double width,
                             Qt::TextElideMode elide);
    /// Draws the text vertically centered in `line` with the painter's pen; returns its width.
    double draw(QPainter& painter, const DeviceGrid& grid, const QString& text, Face face, double pixels,
                const QRectF& line, bool right = false, Qt::TextElideMode elide = Qt::ElideRight);

  private:
    struct Key {
        QString text;
        Face face;
        int pixels, width, elide;
        bool operator==(const Key&) const = default;
        friend size_t qHash(const Key& key, size_t seed = 0) {
            return qHashMulti(seed, key.text, static_cast<int>(key.face), key.pixels, key.width, key.elide);
        }
    };
    const QFont& font(Face face, int pixels);

    QFont m_base;
    std::map<std::pair<Face, int>, QFont> m_fonts;
    QHash<Key, ShapedText> m_texts;
};

}  // namespace quantloupe::ui
