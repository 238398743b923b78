// SPDX-License-Identifier: Apache-2.0
#include "graph/picture_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace quantloupe::ui {

namespace {

constexpr double kSmallestCell = 400;
constexpr double kMaxCells = 200'000;

QRectF boundsOf(const std::vector<Point>& points) {
    if (points.empty()) return {};
    double left = points[0].x, right = left, top = points[0].y, bottom = top;
    for (const Point& p : points) {
        left = std::min(left, p.x), right = std::max(right, p.x);
        top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
    // A straight edge has no width; it must still be found.
    return QRectF(left, top, right - left, bottom - top).adjusted(-2, -2, 2, 2);
}

}  // namespace

QRectF toRectF(const Rect& rect) { return {rect.x, rect.y, rect.width, rect.height}; }

PictureIndex::PictureIndex(const Picture& picture) {
    for (const PictureNode& node : picture.nodes) {
        m_nodeBoxes.push_back(toRectF(node.box));
        m_tallestRows = std::max(m_tallestRows, node.rowsHeight);
    }
    for (const PictureEdge& edge : picture.edges) m_edgeBoxes.push_back(boundsOf(edge.points));
    for (const QRectF& box : m_nodeBoxes) m_bounds |= box;
    for (const QRectF& box : m_edgeBoxes) m_bounds |= box;

    const double area = std::max(1.0, m_bounds.width() * m_bounds.height());
    m_cell = std::max(kSmallestCell, std::sqrt(area / kMaxCells));
    m_columns = static_cast<int>(m_bounds.width() / m_cell) + 1;
    m_rows = static_cast<int>(m_bounds.height() / m_cell) + 1;
    m_cells.resize(static_cast<std::size_t>(m_columns) * static_cast<std::size_t>(m_rows));

    const auto insert = [this](const std::vector<QRectF>& boxes, std::vector<std::uint32_t> Cell::*list) {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const CellRange range = cellsOf(boxes[i]);
            for (int row = range.top; row <= range.bottom; ++row)
                for (int column = range.left; column <= range.right; ++column)
                    (m_cells[cellIndex(row, column)].*list).push_back(static_cast<std::uint32_t>(i));
        }
    };
    insert(m_nodeBoxes, &Cell::nodes);
    insert(m_edgeBoxes, &Cell::edges);

    m_into.resize(picture.nodes.size());
    m_outOf.resize(picture.nodes.size());
    for (std::size_t i = 0; i < picture.edges.size(); ++i) {
        m_outOf[picture.edges[i].from].push_back(i);
        m_into[picture.edges[i].to].push_back(i);
    }
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        const PictureNode& node = picture.nodes[i];
        const auto put = [&](NodeId layer) {
            if (m_boxOfLayer.size() <= layer.index()) m_boxOfLayer.resize(layer.index() + 1, 0);
            m_boxOfLayer[layer.index()] = static_cast<std::uint32_t>(i + 1);
        };
        if (node.kind == PictureNode::Kind::Layer && node.layer.valid()) put(node.layer);
        if (node.kind == PictureNode::Kind::Group)
            for (const NodeId layer : picture.groups[node.group].nodes) put(layer);
    }
}

PictureIndex::CellRange PictureIndex::cellsOf(const QRectF& scene) const {
    const auto place = [this](double value, double start, int count) {
        return static_cast<int>(std::clamp(std::floor((value - start) / m_cell), 0.0, count - 1.0));
    };
    return {place(scene.left(), m_bounds.left(), m_columns), place(scene.top(), m_bounds.top(), m_rows),
            place(scene.right(), m_bounds.left(), m_columns), place(scene.bottom(), m_bounds.top(), m_rows)};
}

std::vector<std::size_t> PictureIndex::collect(const QRectF& scene, std::vector<std::uint32_t> Cell::*list,
                                               const std::vector<QRectF>& boxes) const {
    std::vector<std::size_t> found;
    if (m_cells.empty() || !scene.intersects(m_bounds)) return found;
    if (scene.contains(m_bounds)) {
        found.resize(boxes.size());
        std::iota(found.begin(), found.end(), std::size_t{0});
        return found;
    }
    // Long edges are in many cells; a bit for each edge avoids duplicates and keeps the order.
    std::vector<std::uint64_t> marks(boxes.size() / 64 + 1);
    const CellRange range = cellsOf(scene);
    for (int row = range.top; row <= range.bottom; ++row)
        for (int column = range.left; column <= range.right; ++column)
            for (const std::uint32_t i : m_cells[cellIndex(row, column)].*list)
                marks[i / 64] |= std::uint64_t{1} << (i % 64);
    for (std::size_t word = 0; word < marks.size(); ++word)
        for (std::uint64_t bits = marks[word]; bits != 0; bits &= bits - 1) {
            const std::size_t i = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            if (boxes[i].intersects(scene)) found.push_back(i);
        }
    return found;
}

std::vector<std::size_t> PictureIndex::nodesIn(const QRectF& scene) const {
    return collect(scene, &Cell::nodes, m_nodeBoxes);
}

std::vector<std::size_t> PictureIndex::edgesIn(const QRectF& scene) const {
    return collect(scene, &Cell::edges, m_edgeBoxes);
}

std::optional<std::size_t> PictureIndex::nodeAt(QPointF scene) const {
    for (const std::size_t i : nodesIn(QRectF(scene.x() - 0.5, scene.y() - 0.5, 1, 1)))
        if (m_nodeBoxes[i].contains(scene)) return i;
    return std::nullopt;
}

std::optional<std::size_t> PictureIndex::boxOf(NodeId layer) const {
    if (!layer.valid() || layer.index() >= m_boxOfLayer.size() || m_boxOfLayer[layer.index()] == 0)
        return std::nullopt;
    return m_boxOfLayer[layer.index()] - 1;
}

}  // namespace quantloupe::ui
