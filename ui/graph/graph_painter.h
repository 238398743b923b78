// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paints a picture: only the visible part, and only the details that can be seen. Below kPlainZoom boxes are
// filled rectangles and edges hairlines; above kTextZoom there is text, above kDetailZoom more of it.

#include <QFont>
#include <QPainter>
#include <functional>
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
constexpr double kRowTextZoom = 0.6;  ///< of compact rows
constexpr double kDetailZoom = 2;
constexpr double kHeatFrom = 0.5;  ///< fraction of the width where the heat begins in a box without texts

struct PaintScene {
    const Picture* picture = nullptr;
    const PictureIndex* index = nullptr;
    const std::vector<NodeLook>* looks = nullptr;
    const Theme* theme = nullptr;
    QFont font;
    PaintCache* cache = nullptr;  ///< reused between frames; null: everything is painted again
    bool faded = false;           ///< the numbers belong to the previous configuration

    std::vector<bool> selected;   ///< one per box, or empty
    std::vector<bool> previewed;  ///< would be covered by the previewed rule
    std::optional<std::size_t> current, hovered;

    /// Lines of text about a layer, shown from kDetailZoom on; may be empty.
    std::function<QStringList(std::size_t box)> details;
};

/// Paints into `view`, the visible part in the painter's coordinates.
void paintScene(QPainter& painter, const PaintScene& scene, const ViewTransform& transform,
                const QRectF& view);

/// Returns the position of the name of an expanded block, in scene units.
QRectF frameNameRect(const PictureFrame& frame);
}  // namespace quantloupe::ui
