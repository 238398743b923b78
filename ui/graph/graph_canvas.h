// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph on the screen. Drag or wheel pans, Ctrl+wheel or pinch zooms to the cursor; a click selects, Ctrl
// adds to the selection, Shift selects all layers on any path from the current layer, Shift+drag draws a
// rubber band; arrow keys follow the edges, a double click centers. New results keep selection, position and
// zoom.

#include <QStringList>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "document/document.h"
#include "graph/graph_painter.h"
#include "graph/node_look.h"
#include "graph/overlay.h"
#include "graph/picture_index.h"
#include "graph/rule_preview.h"
#include "graph/scale_texts.h"
#include "graph/view_transform.h"

namespace quantloupe::ui {

class PaintedView;

class GraphCanvas : public QWidget {
    Q_OBJECT
  public:
    explicit GraphCanvas(Document* document, QWidget* parent = nullptr);
    /// The same graph with the results of the reference configuration (LayerReference), colored on the
    /// leader's scale. setTransform() sets its position and zoom; clicks work as on the leader, which has to
    /// outlive it.
    explicit GraphCanvas(GraphCanvas* leader, QWidget* parent = nullptr);
    ~GraphCanvas() override;

    /// Shows another picture of the same graph. The document's picture is shown automatically.
    void setPicture(PicturePtr picture);
    const Picture* picture() const { return m_picture.get(); }
    const PictureIndex& index() const { return m_index; }
    const std::vector<NodeLook>& looks() const { return m_looks; }
    const MetricScale& scale() const { return m_overlay.scale; }
    const Overlay& overlay() const { return m_overlay; }
    const LayerReference& reference() const { return m_document->reference(); }
    bool hasBaseline() const { return m_document->history().baselineEntry() != nullptr; }

    /// Whether no layer has a value yet and an evaluation is running.
    bool measuring() const { return m_measuring; }

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);
    /// Sets the scale of the displayed metric; each metric has its own scale.
    void setScaleChoice(const ScaleChoice& choice);
    ScaleChoice scaleChoice() const;

    const ViewTransform& transform() const { return m_transform; }
    void setTransform(const ViewTransform& transform);
    void zoomAt(QPointF view, double factor);
    /// Sets the margins that are covered by widgets over the canvas; fitting excludes them.
    void setFitMargins(const QMarginsF& margins) { m_margins = margins; }
    /// Lays the graph out in another arrangement, then shows the whole graph.
    void arrange(Arrangement arrangement);
    void zoomStep(double factor);  ///< around the middle, or around the current box if it is visible
    void fitAll();
    void fitSelection();
    void actualSize();
    void centerOn(NodeId layer);
    void ensureVisible(NodeId layer);
    void centerScene(QPointF scene);
    /// Returns the layer nearest to the center of the view, and the offset from the center of its box to the
    /// center of the view, in scene units.
    std::optional<std::pair<NodeId, QPointF>> placeInSight() const;
    void showPlace(NodeId layer, QPointF aside, double zoom);
    /// Keeps the position of the layer's box in the view when the graph is laid out again.
    void holdStill(NodeId layer);
    /// The visible part of the drawing.
    QRectF visibleScene() const { return m_transform.toScene(QRectF(rect())); }
    std::optional<std::size_t> boxAt(QPointF view) const;
    /// Returns the expanded block whose name is at this position, as an index into the picture's groups.
    std::optional<std::size_t> frameNameAt(QPointF view) const;

    /// The next click chooses the end of "skip until"; each Ctrl+click chooses another end.
    void startUntil(NodeId from);
    void cancelUntil();
    bool choosingUntil() const { return m_untilFrom.valid(); }
    /// Acts as if the mouse were over the box.
    void setHovered(std::optional<std::size_t> box);

    /// Draws these layers as if a rule kept them in float; `words` are shown above the graph. `rule`: whether
    /// it is one, so that its effect can be predicted.
    void setPreview(NodeSet covered, const QString& words, bool rule = true);
    bool previewsRule() const { return m_previewIsRule; }
    void clearPreview();
    /// Fades these layers; empty: none.
    void setDimmed(NodeSet layers);
    /// Describes what the previewed rule would cover; empty if there is none.
    const QString& previewText() const { return m_previewText; }
    const NodeSet& previewed() const { return m_previewed; }
    /// Returns the lines of text that the box of a layer shows at a high zoom; empty for other boxes.
    QStringList detailsOf(std::size_t box) const;
    /// Returns the screen position for the context menu of the current layer.
    QPoint menuPlace() const;

    /// Returns layout options with box sizes that fit the font.
    static LayoutOptions layoutOptionsFor(const QFont& font);

  Q_SIGNALS:
    void viewChanged();
    void hovered(std::optional<std::size_t> box);
    void looksChanged();
    void metricChanged(quantloupe::ui::Metric metric);
    void toggleRequested();
    void untilChosen(quantloupe::NodeId from, std::vector<quantloupe::NodeId> ends);
    void previewChanged();
    void menuRequested(QPoint global);
    /// The user double-clicked a collapsed group, or the name of an expanded block.
    void foldRequested(std::size_t group, bool collapse);

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

    GraphCanvas(Document* document, GraphCanvas* leader, QWidget* parent);
    /// Returns the displayed layers: those of the document or, for a follower, those of the reference; null
    /// if there are none.
    const std::vector<LayerResult>* layers() const;
    const LayerResult* layerResult(NodeId id) const;
    GraphCanvas* chooser() { return m_leader ? m_leader : this; }
    bool endUntil(std::size_t box, bool more);
    void paintNothing(QPainter& painter);
    void updateLooks();
    void sceneChanged();  ///< the painted scene is outdated
    QRectF fitArea() const;
    void tellRoom();
    void wantScales();
    void updateSelection();
    void resetView();
    void fitWhole(double most);
    void keepInside();
    void viewMoved();
    void hoverAnew();
    void previewUntil();
    void markPreviewed();
    void selectPathTo(std::size_t box);
    void changeFont();
    void selectInBand(bool add);
    bool walk(int key);
    std::optional<std::size_t> neighbor(std::size_t box, int key) const;
    std::optional<std::size_t> currentBox() const { return m_index.boxOf(m_document->current()); }
    void showToolTip(QPoint position, QPoint global);
    QString overlayHint(NodeId id) const;
    NodeId layerOf(std::size_t box) const;  ///< for a collapsed group, its first layer
    NodeId endOf(std::size_t box) const;    ///< for a collapsed group, its last layer
    std::vector<NodeId> layersOf(std::size_t box) const;
    void selectBox(std::size_t box, bool add);
    QString groupHint(const PictureNode& node) const;
    NodeId stillLayer() const;
    NodeId layerNearest(QPointF scene) const;

    Document* m_document;
    GraphCanvas* m_leader;  ///< null: this canvas is a leader
    GraphPtr m_graph;       ///< the graph that the view belongs to
    PicturePtr m_picture;
    PictureIndex m_index;
    std::vector<NodeLook> m_looks;
    Overlay m_overlay;
    std::map<Metric, ScaleChoice> m_scaleChoices;
    ScaleTexts* m_scales;
    Metric m_metric = Metric::LocalQs;
    bool m_measuring = false;
    ViewTransform m_transform;
    PaintScene m_scene;
    std::unique_ptr<PaintCache> m_cache;
    std::unique_ptr<PaintedView> m_painted;
    std::optional<ViewTransform> m_fit;  ///< that showed the whole graph; while it is not moved, it stays so
    bool m_viewPending = false;          ///< the first view waits for a size
    bool m_fitsNext = false;             ///< the next picture is shown whole

    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    std::optional<QPointF> m_pointer;  ///< position of the mouse, until the keyboard is used
    QRectF m_band;
    NodeId m_still;
    QMarginsF m_margins;
    NodeId m_untilFrom;
    std::vector<NodeId> m_untilEnds;  ///< ends chosen with Ctrl so far
    NodeSet m_previewed;              ///< by layer, so that it survives a new picture
    QString m_previewText;
    bool m_previewIsRule = true;
    NodeSet m_dimmed;  ///< by layer
};

}  // namespace quantloupe::ui
