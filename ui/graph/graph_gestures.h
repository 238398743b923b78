// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip gestures on the graph: entries of the layers menu (which is the boxes' context menu, too), each previewed on the
// canvas while it is pointed at, and the bar that chooses a threshold.

#include <QMenu>
#include <QObject>
#include <functional>
#include <map>
#include <optional>

#include "document.h"
#include "graph/graph_view.h"

namespace quantloupe::ui {

/// A choice of blocks that hold a layer.
struct BlockChoice {
    std::string like;  ///< what the rule names
    std::size_t blocks = 0, nodes = 0;
};
/// The blocks around a layer that others are built like, the smallest first; last the layer alone. Choices that cover
/// the same are told once. O(depth of the name * (nodes + edges)).
std::vector<BlockChoice> blockChoices(const Graph& graph, NodeId layer);

class GraphGestures : public QObject {
    Q_OBJECT
  public:
    GraphGestures(Document* document, GraphView* view, QObject* parent = nullptr);

    /// Appends the entries for blocks and thresholds, and previews the entries of previewOn().
    void addTo(QMenu* layers);
    /// While `action` is pointed at, the canvas shows what its rule would cover.
    void previewOn(QAction* action, std::function<std::optional<SkipRule>()> rule);
    /// After the selection has changed.
    void updateActions();
    /// Escape: gives up what is in the making. False if there is nothing.
    bool cancel();

    void startThreshold();
    void popUpBlocks();
    QMenu* blockMenu() const { return m_blocks; }

  private:
    void fillBlocks();
    void offerBlocksByShape(NodeId layer);
    void show(QAction* action);
    void add(const ConfigEdit& edit);

    Document* m_document;
    GraphView* m_view;
    QMenu* m_blocks = nullptr;
    QAction *m_blockAction = nullptr, *m_thresholdAction = nullptr;
    std::map<QAction*, std::function<std::optional<SkipRule>()>> m_rules;
};

}  // namespace quantloupe::ui
