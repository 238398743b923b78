// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paints a picture: only what is visible, and only as much of it as can be seen. Below kPlainZoom boxes are
// filled rectangles and edges hairlines; above kTextZoom there is text.

#include <QFont>
#include <QPainter>
#include <optional>
#include <vector>

#include "graph/node_look.h"
#include "graph/picture_index.h"
#include "graph/view_transform.h"
#include "picture/picture.h"
#include "style/theme.h"

namespace quantloupe::ui {

struct PaintCache;

constexpr double kPlainZoom = 0.25;
constexpr double kTextZoom = 0.45;

struct PaintScene {
    const Picture* picture = nullptr;
    const PictureIndex* index = nullptr;
    const std::vector<NodeLook>* looks = nullptr;
    const Theme* theme = nullptr;
    QFont font;
    PaintCache* cache = nullptr;  ///< kept from frame to frame; without one all is made anew
    bool faded = false;  ///< numbers are of the configuration before

    std::vector<bool> selected;   ///< one a box, or empty
    std::vector<bool> previewed;  ///< would be covered by the rule in the making
    std::optional<std::size_t> current, hovered;
};

/// Paints into `view`, the visible part in the painter's coordinates.
void paintScene(QPainter& painter, const PaintScene& scene, const ViewTransform& transform,
                const QRectF& view);

/// Where the name of an open block is written, in scene units.
QRectF frameNameRect(const PictureFrame& frame);
}  // namespace quantloupe::ui
