// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gesture of "skip until": after it has been started, a click or Enter chooses the last layer; with Ctrl,
// several. The canvas previews the layers that would be skipped.

#include <QObject>
#include <vector>

#include "document/document.h"

namespace quantloupe::ui {

class GraphCanvas;

class UntilChoice : public QObject {
    Q_OBJECT
  public:
    UntilChoice(Document* document, GraphCanvas* canvas);
    void start(NodeId from);
    void cancel();
    bool active() const { return m_from.valid(); }
    /// Chooses an end. `more`: further ends follow. Returns false if the gesture is not active.
    bool choose(NodeId end, bool more);
    /// The layer of a box at which the rule would end: of a block before the start, the first one.
    NodeId endAt(std::size_t box) const;
    /// Previews the layers up to the box under the mouse. With the keyboard, the user chooses with the arrow
    /// keys; the current layer is the cursor.
    void preview();

  Q_SIGNALS:
    void chosen(quantloupe::NodeId from, std::vector<quantloupe::NodeId> ends);

  private:
    std::vector<NodeId> endsWith(NodeId end) const;

    Document* m_document;
    GraphCanvas* m_canvas;
    NodeId m_from;
    std::vector<NodeId> m_ends;  ///< chosen with Ctrl so far
};

}  // namespace quantloupe::ui
