// SPDX-License-Identifier: Apache-2.0
#include "graph/canvas_selection.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/reachability.h"

namespace quantloupe::ui {

void CanvasSelection::selectBox(std::size_t box, bool add) {
    const std::vector<NodeId> layers = m_shown->layersOf(box);
    if (!add) {
        m_document->select(layers, layers.front());
        return;
    }
    std::vector<NodeId> nodes = m_document->selection();
    const bool all =
        std::ranges::all_of(layers, [this](NodeId layer) { return m_document->isSelected(layer); });
    std::erase_if(nodes, [&](NodeId node) { return std::ranges::find(layers, node) != layers.end(); });
    if (!all) nodes.insert(nodes.end(), layers.begin(), layers.end());
    const NodeId last = nodes.empty() ? NodeId() : nodes.back();
    m_document->select(std::move(nodes), last);
}

void CanvasSelection::selectPathTo(std::size_t box) {
    const Graph& graph = *m_shown->graph();
    const NodeId from = m_document->current();
    NodeSet covered = between(graph, from, m_shown->endOf(box));
    if (std::ranges::count(covered, true) == 0) covered = between(graph, m_shown->layerOf(box), from);
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < covered.size(); ++i)
        if (covered[i]) nodes.push_back(NodeId(i));
    if (nodes.empty()) {
        nodes = m_document->selection();
        for (const NodeId layer : m_shown->layersOf(box))
            if (!m_document->isSelected(layer)) nodes.push_back(layer);
    }
    m_document->select(std::move(nodes), from);
}

void CanvasSelection::startBand(QPointF view) {
    m_bandStart = view;
    m_band = QRectF(view, view);
}

void CanvasSelection::extendBand(QPointF view) { m_band = QRectF(m_bandStart, view).normalized(); }

void CanvasSelection::finishBand(const ViewTransform& transform, bool add) {
    const auto band = std::exchange(m_band, std::nullopt);
    if (!band) return;
    std::vector<NodeId> nodes;
    if (add) nodes = m_document->selection();
    for (const std::size_t box : m_shown->index().nodesIn(transform.toScene(*band)))
        for (const NodeId layer : m_shown->layersOf(box))
            if (!add || !m_document->isSelected(layer)) nodes.push_back(layer);
    const NodeId last = nodes.empty() ? NodeId() : nodes.back();
    m_document->select(std::move(nodes), last);
}

std::optional<std::size_t> CanvasSelection::target(int key) const {
    if (!*m_shown || !m_shown->graph() || m_shown->graph()->nodeCount() == 0) return std::nullopt;
    const auto here = m_shown->boxOf(m_document->current());
    if (key == Qt::Key_End) return m_shown->boxOf(NodeId(m_shown->graph()->nodeCount() - 1));
    if (key == Qt::Key_Home || !here) return m_shown->boxOf(NodeId(0));
    return neighbor(*here, key);
}

/// In a layout from top to bottom, Up and Down follow the straightest edge, and Left and Right go to the
/// nearest box on that side. In a layout from left to right, the keys are exchanged.
std::optional<std::size_t> CanvasSelection::neighbor(std::size_t box, int key) const {
    const Picture& picture = *m_shown->picture();
    const PictureIndex& index = m_shown->index();
    const bool turned = picture.arrangement == Arrangement::Right;
    const auto turn = [turned](const QRectF& rect) {
        return turned ? QRectF(rect.y(), rect.x(), rect.height(), rect.width()) : rect;
    };
    const auto rectOf = [&](std::size_t other) { return turn(m_shown->rectOf(other)); };
    if (turned)
        key = key == Qt::Key_Right  ? Qt::Key_Down
              : key == Qt::Key_Left ? Qt::Key_Up
              : key == Qt::Key_Down ? Qt::Key_Right
                                    : Qt::Key_Left;
    const QRectF here = rectOf(box);
    std::optional<std::size_t> best;
    double bestDistance = 0;
    const auto offer = [&](std::size_t other, double distance) {
        if (!m_shown->layerOf(other).valid() || (best && distance >= bestDistance)) return;
        best = other;
        bestDistance = distance;
    };
    const auto sideways = [&](std::size_t other) {
        return std::abs(rectOf(other).center().x() - here.center().x());
    };
    if (key == Qt::Key_Down)
        for (const std::size_t e : index.edgesOutOf(box))
            offer(picture.edges[e].to, sideways(picture.edges[e].to));
    if (key == Qt::Key_Up)
        for (const std::size_t e : index.edgesInto(box))
            offer(picture.edges[e].from, sideways(picture.edges[e].from));
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const bool left = key == Qt::Key_Left;
        const double reach = here.height() * 3;
        const QRectF all = turn(index.bounds());
        const QRectF strip(all.left(), here.top() - reach, all.width(), here.height() + 2 * reach);
        for (const std::size_t other : index.nodesIn(turn(strip))) {
            const QPointF there = rectOf(other).center();
            const double dx = left ? here.center().x() - there.x() : there.x() - here.center().x();
            if (other != box && dx > here.width() / 4)
                offer(other, dx + 2 * std::abs(there.y() - here.center().y()));
        }
    }
    return best;
}

}  // namespace quantloupe::ui
