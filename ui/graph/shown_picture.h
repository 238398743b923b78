// SPDX-License-Identifier: Apache-2.0
#pragma once
// The picture that a canvas shows, and which layers of the graph its boxes stand for.

#include <QRectF>
#include <optional>
#include <vector>

#include "document/document.h"
#include "graph/picture_index.h"

namespace quantloupe::ui {

class ShownPicture {
  public:
    void setPicture(PicturePtr picture);  ///< null: none
    /// Sets the graph that the picture belongs to.
    void setGraph(GraphPtr graph) { m_graph = std::move(graph); }

    const PicturePtr& picture() const { return m_picture; }
    const PictureIndex& index() const { return m_index; }
    const GraphPtr& graph() const { return m_graph; }
    explicit operator bool() const { return m_picture != nullptr; }

    // These need a picture.
    const PictureNode& node(std::size_t box) const { return m_picture->nodes[box]; }
    QRectF rectOf(std::size_t box) const { return toRectF(node(box).box); }
    /// Returns the layer of a box; for a collapsed group, its first layer. Invalid for inputs and outputs of
    /// the graph.
    NodeId layerOf(std::size_t box) const { return node(box).layer; }
    /// Returns the layer of a box; for a collapsed group, its last layer.
    NodeId endOf(std::size_t box) const;
    /// Returns all layers of a box.
    std::vector<NodeId> layersOf(std::size_t box) const;

    /// Returns the box of a layer, or of the collapsed group that contains it.
    std::optional<std::size_t> boxOf(NodeId layer) const { return m_index.boxOf(layer); }

  private:
    PicturePtr m_picture;
    PictureIndex m_index;
    GraphPtr m_graph;
};

}  // namespace quantloupe::ui
