// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paints a box of the graph without its text: fill, hatching, border, band, and the stacked outlines of a
// collapsed group. Many boxes look the same, so on the screen each variant is painted once per zoom level and
// then copied. Vector output paints every box.

#include <QHash>
#include <QImage>
#include <QPainter>

#include "graph/device_grid.h"
#include "graph/node_look.h"
#include "graph/text_cache.h"

namespace quantloupe::ui {

constexpr double kSheets = 6;  ///< visible width of a group's sheets, right and below

/// Paints the face. `box` is in the painter's coordinates.
void paintFace(QPainter& painter, const QRectF& box, const NodeLook& look, const Theme& theme);
/// Returns the position of a box's heat bar, between its texts and its right border.
QRectF heatSlot(const QRectF& box);

class FaceCache {
  public:
    struct Face {
        QImage image;
        int margin = 0;  ///< pixels around the box
    };
    /// Returns the face of a box of this size in pixels, at `scale` pixels per scene unit.
    const Face& face(QSize pixels, double scale, const NodeLook& look, const Theme& theme);

  private:
    struct Key {
        QSize pixels;
        QRgb outline, fill, band;
        int flags;
        bool operator==(const Key&) const = default;
        friend size_t qHash(const Key& key, size_t seed = 0) {
            return qHashMulti(seed, key.pixels.width(), key.pixels.height(), key.outline, key.fill, key.band,
                              key.flags);
        }
    };
    QHash<Key, Face> m_faces;
    double m_scale = 0;
};

/// Data that painting keeps from frame to frame.
struct PaintCache {
    TextCache texts;
    FaceCache faces;
};

}  // namespace quantloupe::ui
