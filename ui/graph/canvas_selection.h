// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects layers on the graph: boxes, all layers on the paths between two boxes, the boxes in a rubber band,
// and the next box in a direction.

#include <QPointF>
#include <QRectF>
#include <optional>

#include "document/document.h"
#include "graph/shown_picture.h"
#include "graph/view_transform.h"

namespace quantloupe::ui {

class CanvasSelection {
  public:
    /// Both must outlive this object.
    CanvasSelection(Document* document, const ShownPicture* shown) : m_document(document), m_shown(shown) {}

    void clear() { m_document->select(NodeId()); }
    /// With `add`, adds the layers of the box to the selection, or deselects them if all of them are
    /// selected.
    void selectBox(std::size_t box, bool add);
    /// Selects the layers between the current layer and the box, in either order, including both ends. If
    /// there is no path, only the layers of the box are added. The current layer does not change, so that
    /// another call selects another path from it.
    void selectPathTo(std::size_t box);

    /// Returns the rubber band in the coordinates of the canvas, if there is one.
    const std::optional<QRectF>& band() const { return m_band; }
    void startBand(QPointF view);
    void extendBand(QPointF view);
    void removeBand() { m_band.reset(); }
    /// Selects what is in the rubber band, and removes the band.
    void finishBand(const ViewTransform& transform, bool add);

    /// Returns the box that an arrow key, Home or End goes to from the current box; empty if there is none.
    std::optional<std::size_t> target(int key) const;

  private:
    std::optional<std::size_t> neighbor(std::size_t box, int key) const;

    Document* m_document;
    const ShownPicture* m_shown;
    QPointF m_bandStart;
    std::optional<QRectF> m_band;
};

}  // namespace quantloupe::ui
