// SPDX-License-Identifier: Apache-2.0
#include "picture/references.h"

#include <algorithm>
#include <map>

#include "base/disjoint_sets.h"
#include "picture/piece.h"
#include "picture/ranks.h"

namespace quantloupe {
namespace {

constexpr std::size_t kManyReaders = 8;
constexpr int kFar = 30;  ///< rows

}  // namespace

void markReferences(Picture& picture) {
    std::vector<std::size_t> readers(picture.nodes.size(), 0);
    std::vector<PieceEdge> pairs;
    for (const PictureEdge& edge : picture.edges) {
        if (edge.hidden) continue;
        ++readers[edge.from];
        pairs.push_back({static_cast<std::uint32_t>(edge.from), static_cast<std::uint32_t>(edge.to)});
    }
    if (std::ranges::none_of(readers, [](std::size_t count) { return count >= kManyReaders; })) return;
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const std::vector<int> ranks = computeRanks(picture.nodes.size(), pairs);

    DisjointSets sets(picture.nodes.size());
    std::vector<std::size_t> far;
    for (std::size_t e = 0; e < picture.edges.size(); ++e) {
        const PictureEdge& edge = picture.edges[e];
        if (edge.hidden) continue;
        if (!edge.carries && readers[edge.from] >= kManyReaders && ranks[edge.to] - ranks[edge.from] > kFar)
            far.push_back(e);
        else
            sets.join(edge.from, edge.to);
    }
    for (const std::size_t e : far)
        picture.edges[e].reference = !sets.join(picture.edges[e].from, picture.edges[e].to);
}

void placeReferences(Picture& picture) {
    const bool right = picture.arrangement == Arrangement::Right;
    std::map<std::size_t, int> atBox;
    for (PictureEdge& edge : picture.edges) {
        if (edge.hidden) {
            const Rect &from = picture.nodes[edge.from].box, &to = picture.nodes[edge.to].box;
            if (right)
                edge.points = {{from.right(), from.y + from.height / 2}, {to.x, to.y + to.height / 2}};
            else
                edge.points = {{from.x + from.width / 2, from.bottom()}, {to.x + to.width / 2, to.y}};
        }
        if (!edge.reference) continue;
        const Rect& to = picture.nodes[edge.to].box;
        const int place = atBox[edge.to]++ % 4;
        if (right) {
            const double y = to.bottom() - std::min(to.height / 2, 12 + 8.0 * place);
            edge.points = {{to.x - kRowGap * 0.62, y}, {to.x, y}};
        } else {
            const double x = to.right() - 18 - 12 * place;
            edge.points = {{x, to.y - kRowGap * 0.62}, {x, to.y}};
        }
    }
}

}  // namespace quantloupe
