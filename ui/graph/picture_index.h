// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the boxes and edges of a picture by position, with a grid of cells that list the boxes and edges that
// touch them. Building is O(nodes + edges + cells touched); the cost of a query is the number of entries in
// the cells that it covers. Also provides the edges of each box.

#include <QPointF>
#include <QRectF>
#include <cstdint>
#include <optional>
#include <vector>

#include "picture/picture.h"

namespace quantloupe::ui {

QRectF toRectF(const Rect& rect);

class PictureIndex {
  public:
    PictureIndex() = default;
    explicit PictureIndex(const Picture& picture);

    const QRectF& bounds() const { return m_bounds; }
    /// The largest height of rows below a box (PictureNode::rowsHeight).
    double tallestRows() const { return m_tallestRows; }
    std::optional<std::size_t> nodeAt(QPointF scene) const;
    /// Indices in rising order.
    std::vector<std::size_t> nodesIn(const QRectF& scene) const;
    std::vector<std::size_t> edgesIn(const QRectF& scene) const;

    const std::vector<std::size_t>& edgesInto(std::size_t node) const { return m_into[node]; }
    const std::vector<std::size_t>& edgesOutOf(std::size_t node) const { return m_outOf[node]; }
    /// Returns the box of a layer, or of the collapsed group that contains the layer.
    std::optional<std::size_t> boxOf(NodeId layer) const;

  private:
    struct Cell {
        std::vector<std::uint32_t> nodes, edges;
    };
    struct CellRange {
        int left, top, right, bottom;
    };
    CellRange cellsOf(const QRectF& scene) const;
    std::size_t cellIndex(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns) +
               static_cast<std::size_t>(column);
    }
    std::vector<std::size_t> collect(const QRectF& scene, std::vector<std::uint32_t> Cell::*list,
                                     const std::vector<QRectF>& boxes) const;

    QRectF m_bounds;
    double m_cell = 1, m_tallestRows = 0;
    int m_columns = 0, m_rows = 0;
    std::vector<Cell> m_cells;
    std::vector<QRectF> m_nodeBoxes, m_edgeBoxes;
    std::vector<std::vector<std::size_t>> m_into, m_outOf;
    std::vector<std::uint32_t> m_boxOfLayer;  ///< 1 + index
};

}  // namespace quantloupe::ui
