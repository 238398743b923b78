// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph on the screen. Drag or wheel pans, Ctrl+wheel or pinch zooms to the cursor; a click selects,
// Shift adds, Shift+drag draws a rubber band; arrow keys walk along the edges, a double click centres.
// Selection, place and zoom survive every new result.

#include <QWidget>
#include <optional>
#include <vector>

#include "document.h"
#include "graph/graph_painter.h"
#include "graph/node_look.h"
#include "graph/picture_index.h"
#include "graph/view_transform.h"

namespace quantloupe::ui {

class GraphCanvas : public QWidget {
    Q_OBJECT
  public:
    explicit GraphCanvas(Document* document, QWidget* parent = nullptr);

    /// The document's picture is shown by itself; this is for another one of the same graph.
    void setPicture(PicturePtr picture);
    const Picture* picture() const { return m_picture.get(); }
    const PictureIndex& index() const { return m_index; }
    const std::vector<NodeLook>& looks() const { return m_looks; }
    const MetricScale& scale() const { return m_scale; }

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);

    const ViewTransform& transform() const { return m_transform; }
    void zoomAt(QPointF view, double factor);
    void zoomStep(double factor);  ///< at the middle, or at the current box if that is visible
    void fitAll();
    void fitSelection();
    void actualSize();
    void centerOn(NodeId layer);
    void ensureVisible(NodeId layer);
    void centerScene(QPointF scene);
    /// The part of the drawing that is seen.
    QRectF visibleScene() const { return m_transform.toScene(QRectF(rect())); }
    std::optional<std::size_t> boxAt(QPointF view) const;

    /// The next click chooses where "skip until" ends.
    void startUntil(NodeId from);
    void cancelUntil();
    bool choosingUntil() const { return m_untilFrom.valid(); }

    /// Sizes of boxes that fit the widget's font.
    static LayoutOptions layoutOptionsFor(const QFont& font);

  Q_SIGNALS:
    void viewChanged();
    void looksChanged();
    void metricChanged(quantloupe::ui::Metric metric);
    void toggleRequested();
    void untilChosen(quantloupe::NodeId from, quantloupe::NodeId to);
    void untilChanged();
    /// What the rule in the making would cover, in words.
    void untilPreviewed(QString text);
    void menuRequested(QPoint global);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    enum class Drag { None, Click, Pan, Band };

    void updateLooks();
    void updateSelection();
    void resetView();
    void keepInside();
    void viewMoved();
    void setHovered(std::optional<std::size_t> box);
    void previewUntil();
    void selectInBand(bool add);
    bool walk(int key);
    std::optional<std::size_t> neighbour(std::size_t box, int key) const;
    std::optional<std::size_t> currentBox() const { return m_index.boxOf(m_document->current()); }
    void showToolTip(QPoint position, QPoint global);
    NodeId layerOf(std::size_t box) const;

    Document* m_document;
    GraphPtr m_graph;  ///< that the view belongs to
    PicturePtr m_picture;
    PictureIndex m_index;
    std::vector<NodeLook> m_looks;
    MetricScale m_scale;
    Metric m_metric = Metric::LocalQs;
    ViewTransform m_transform;
    PaintScene m_scene;
    bool m_viewPending = false;  ///< the first view waits for a size

    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    QRectF m_band;
    NodeId m_untilFrom;
};

}  // namespace quantloupe::ui
