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
    /// The entries that concern the current layer.
    QList<QAction*> layerActions() const { return {m_blockAction}; }
    /// Hovering an entry of the menu previews its rule.
    void previewIn(QMenu* menu);
    /// Chosen in a menu, whose hovering has previewed it, the rule is applied at once. Chosen by its key, it
    /// is previewed; the same key again or Enter in the graph applies it, Escape or another selection does
    /// not.
    void propose(QAction* action, std::function<void()> apply);
    /// While `action` is hovered, the canvas shows what its rule would cover.
    void previewOn(QAction* action, std::function<std::optional<SkipRule>()> rule);
    /// After the selection has changed.
    void updateActions();
    /// Escape: cancels the gesture in progress. Returns false if there is none.
    bool cancel();

    /// Each ends the gesture in progress.
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
    std::function<void()> m_apply;  ///< what is proposed
    bool m_fromMenu = false;        ///< a menu is handling a click or a key
};

}  // namespace quantloupe::ui
