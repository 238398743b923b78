// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph on the screen: paints the picture with the colors of the metric, the selection and the previewed
// rule. CanvasView manages the position and the zoom, CanvasInput handles the mouse and the keyboard, and
// CanvasSelection selects layers. New results keep selection, position and zoom.

#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "document/document.h"
#include "graph/box_hints.h"
#include "graph/canvas_selection.h"
#include "graph/canvas_view.h"
#include "graph/graph_painter.h"
#include "graph/node_look.h"
#include "graph/overlay.h"
#include "graph/shown_picture.h"
#include "graph/until_choice.h"

namespace quantloupe::ui {

class CanvasInput;
class PaintedView;

class GraphCanvas : public QWidget {
    Q_OBJECT
  public:
    explicit GraphCanvas(Document* document, QWidget* parent = nullptr);
    /// The same graph with the results of the reference configuration (LayerReference), colored on the
    /// leader's scale. CanvasView::setTransform() sets its position and zoom; clicks work as on the leader,
    /// which has to outlive it.
    explicit GraphCanvas(GraphCanvas* leader, QWidget* parent = nullptr);
    ~GraphCanvas() override;

    /// Shows another picture of the same graph. The document's picture is shown automatically.
    void setPicture(PicturePtr picture);
    const ShownPicture& shown() const { return m_shown; }
    const Picture* picture() const { return m_shown.picture().get(); }
    const PictureIndex& index() const { return m_shown.index(); }
    const std::vector<NodeLook>& looks() const { return m_looks; }
    const MetricScale& scale() const { return m_overlay.scale; }
    const Overlay& overlay() const { return m_overlay; }
    const LayerReference& reference() const { return m_document->reference(); }
    bool hasBaseline() const { return m_document->history().baselineEntry() != nullptr; }
    /// Returns the result of a layer that the canvas shows: that of the document or, for a follower, that of
    /// the reference; null if there is none.
    const LayerResult* layerResult(NodeId id) const;

    /// Whether no layer has a value yet and an evaluation is running.
    bool measuring() const { return m_measuring; }

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);
    /// Sets the scale of the displayed metric; each metric has its own scale.
    void setScaleChoice(const ScaleChoice& choice);
    ScaleChoice scaleChoice() const;

    CanvasView* view() const { return m_view; }
    const ViewTransform& transform() const { return m_view->transform(); }
    QRectF visibleScene() const { return m_view->visibleScene(); }

    /// The gesture of "skip until"; a follower uses that of its leader.
    UntilChoice* until() const { return m_until; }
    /// Acts as if the mouse were over the box.
    void setHovered(std::optional<std::size_t> box);
    std::optional<std::size_t> hoveredBox() const { return m_scene.hovered; }

    /// Draws these layers as if a rule kept them in float; `words` are shown above the graph. `rule`: whether
    /// a rule is previewed, whose effect can be predicted.
    void setPreview(NodeSet covered, const QString& words, bool rule = true);
    bool previewsRule() const { return m_previewIsRule; }
    void clearPreview();
    /// Fades these layers; empty: none.
    void setDimmed(NodeSet layers);
    /// Describes what the previewed rule would cover; empty if there is none.
    const QString& previewText() const { return m_previewText; }
    const NodeSet& previewed() const { return m_previewed; }
    const BoxHints& hints() const { return m_hints; }

    /// Returns layout options with box sizes that fit the font.
    static LayoutOptions layoutOptionsFor(const QFont& font);

  Q_SIGNALS:
    void viewChanged();
    void hovered(std::optional<std::size_t> box);
    void looksChanged();
    void metricChanged(quantloupe::ui::Metric metric);
    void toggleRequested();
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
    GraphCanvas(Document* document, GraphCanvas* leader, QWidget* parent);
    void followDocument();
    void connectParts();
    /// Returns the displayed layers: those of the document or, for a follower, those of the reference; null
    /// if there are none.
    const std::vector<LayerResult>* layers() const;
    void updateLooks();
    void updateSelection();
    void markPreviewed();
    void changeFont();
    void wantScales();
    void sceneChanged();  ///< the painted scene is outdated
    void paintNothing(QPainter& painter);
    void showToolTip(QPoint position, QPoint global);

    Document* m_document;
    GraphCanvas* m_leader;  ///< null: this canvas is a leader
    ShownPicture m_shown;
    CanvasView* m_view;
    CanvasSelection m_selection;
    UntilChoice* m_until;
    CanvasInput* m_input;
    std::vector<NodeLook> m_looks;
    Overlay m_overlay;
    std::map<Metric, ScaleChoice> m_scaleChoices;
    std::filesystem::path m_scaledModel;  ///< the model that they were made for
    ScaleTexts* m_scales;
    BoxHints m_hints;
    Metric m_metric = Metric::LocalQs;
    bool m_measuring = false;
    PaintScene m_scene;
    std::unique_ptr<PaintCache> m_cache;
    std::unique_ptr<PaintedView> m_painted;
    NodeSet m_previewed;  ///< by layer, so that it survives a new picture
    QString m_previewText;
    bool m_previewIsRule = true;
    NodeSet m_dimmed;  ///< by layer
};

}  // namespace quantloupe::ui
