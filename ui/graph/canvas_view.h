// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of the graph that a canvas shows: zooming, fitting, centering, and keeping the visible part in
// place when the graph is laid out again or the canvas is resized.

#include <QMarginsF>
#include <QObject>
#include <QWidget>
#include <optional>
#include <utility>

#include "document/document.h"
#include "graph/shown_picture.h"
#include "graph/view_transform.h"

namespace quantloupe::ui {

class CanvasView : public QObject {
    Q_OBJECT
  public:
    /// `widget`: the canvas. `follows`: only setTransform() moves this view. The picture must outlive this
    /// object.
    CanvasView(Document* document, const ShownPicture* shown, bool follows, QWidget* widget);

    const ViewTransform& transform() const { return m_transform; }
    void setTransform(const ViewTransform& transform);
    void moveBy(QPointF step);  ///< in the coordinates of the widget
    void zoomAt(QPointF view, double factor);
    void zoomStep(double factor);  ///< around the middle, or around the current box if it is visible
    /// Sets the margins that are covered by widgets over the canvas; fitting excludes them.
    void setFitMargins(const QMarginsF& margins) { m_margins = margins; }
    void fitAll();
    void fitSelection();
    void actualSize();
    void centerOn(NodeId layer);
    void centerScene(QPointF scene);
    void ensureVisible(NodeId layer);
    /// Lays the graph out in another arrangement, then shows the whole graph.
    void arrange(Arrangement arrangement);
    /// Keeps the position of the layer's box in the view when the graph is laid out again.
    void holdStill(NodeId layer) { m_still = layer; }

    /// Returns the layer nearest to the center of the view, and the offset from the center of its box to the
    /// center of the view, in scene units.
    std::optional<std::pair<NodeId, QPointF>> placeInSight() const;
    void showPlace(NodeId layer, QPointF aside, double zoom);
    /// The visible part of the drawing.
    QRectF visibleScene() const { return m_transform.toScene(area()); }
    std::optional<std::size_t> boxAt(QPointF view) const;
    /// Returns the expanded block whose name is at this position, as an index into the picture's groups.
    std::optional<std::size_t> frameNameAt(QPointF view) const;
    /// Returns the middle of the current box in the coordinates of the widget, or the middle of the widget if
    /// the box is not visible.
    QPoint currentPlace() const;

    /// Call these before and after the picture is replaced. `sameGraph`: by another layout of its graph.
    void prepareForPicture(bool sameGraph);
    void showPicture(bool sameGraph);
    /// Call this after the canvas has been resized.
    void adaptToSize(QSize before);

  Q_SIGNALS:
    /// The graph has moved, other than by setTransform().
    void moved();
    /// The transform has changed; follows moved().
    void changed();

  private:
    QRectF area() const;
    QRectF fitArea() const;
    std::optional<std::size_t> currentBox() const;
    QPointF placeOf(NodeId layer) const;
    NodeId stillLayer() const;
    NodeId layerNearest(QPointF scene) const;
    void fitWhole(double most);
    void showStart();
    void reportRoom();
    void keepInside();
    void finishMove();

    Document* m_document;
    const ShownPicture* m_shown;
    bool m_follows;
    QWidget* m_widget;
    ViewTransform m_transform;
    QMarginsF m_margins;
    std::optional<ViewTransform> m_fit;    ///< of the whole graph, until it is moved
    std::optional<ViewTransform> m_start;  ///< of the most recent showStart()
    bool m_startPending = false;           ///< the first view waits for a size
    bool m_fitsNext = false;               ///< the next picture is shown whole
    NodeId m_still;                        ///< requested by holdStill()
    NodeId m_kept;                         ///< the layer whose box keeps its position in the next picture
    QPointF m_keptPlace;
};

}  // namespace quantloupe::ui
