// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip gestures on the graph: entries of the Layers menu (also the context menu of the boxes), each previewed
// on the canvas while it is hovered, and the bar that chooses a threshold.

#include <QMenu>
#include <QObject>
#include <functional>
#include <map>
#include <optional>

#include "document/document.h"
#include "graph/graph_view.h"

namespace quantloupe::ui {

/// A choice of blocks that contain a layer.
struct BlockChoice {
    std::string like;  ///< the block or layer that the rule names
    std::size_t blocks = 0, nodes = 0;
};
/// The blocks around a layer whose structure other blocks share, smallest first, and finally the layer alone.
/// Choices that cover the same layers are listed once. O(depth of the name * (nodes + edges)).
std::vector<BlockChoice> blockChoices(const Graph& graph, NodeId layer);

class GraphGestures : public QObject {
    Q_OBJECT
  public:
    GraphGestures(Document* document, GraphView* view, QObject* parent = nullptr);

    /// Appends the entries for blocks and thresholds, and previews the entries of previewOn().
    void addTo(QMenu* layers);
    /// The entries for the current layer.
    QList<QAction*> layerActions() const { return {m_blockAction}; }
    /// Hovering an entry of the menu previews its rule.
    void previewIn(QMenu* menu);
    /// Handles the choice of an action. From a menu, which has already shown the preview, the rule is applied
    /// at once. From the keyboard, the rule is previewed first: the same key again or Enter in the graph
    /// applies it, Escape or another selection cancels it.
    void propose(QAction* action, std::function<void()> apply);
    /// Makes the canvas show the layers that the rule of `action` would cover while the action is hovered.
    void previewOn(QAction* action, std::function<std::optional<SkipRule>()> rule);
    /// Call this after the selection has changed.
    void updateActions();
    /// Escape: cancels the gesture in progress. Returns false if there is none.
    bool cancel();

    /// Each of these ends the gesture in progress.
    void startUntil(NodeId from);
    void startThreshold();
    void popUpBlocks();
    QMenu* blockMenu() const { return m_blocks; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void withdraw();
    void fillBlocks();
    void offerBlocksByShape(NodeId layer);
    void show(QAction* action);
    void add(const ConfigEdit& edit);

    Document* m_document;
    GraphView* m_view;
    QMenu* m_blocks = nullptr;
    QAction *m_blockAction = nullptr, *m_thresholdAction = nullptr;
    std::map<QAction*, std::function<std::optional<SkipRule>()>> m_rules;
    QAction* m_proposed = nullptr;
    std::function<void()> m_apply;  ///< applies the previewed rule
    bool m_fromMenu = false;        ///< a menu is handling a click or a key
};

}  // namespace quantloupe::ui
