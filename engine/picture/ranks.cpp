// SPDX-License-Identifier: Apache-2.0
#include "picture/ranks.h"

#include <algorithm>
#include <limits>

namespace quantloupe {

std::vector<int> computeRanks(std::size_t count, const std::vector<PieceEdge>& edges) {
    std::vector<std::size_t> firstOut(count + 1, 0);
    std::vector<int> fanIn(count, 0), fanOut(count, 0);
    for (const PieceEdge& edge : edges) {
        ++firstOut[edge.from + 1];
        ++fanOut[edge.from];
        ++fanIn[edge.to];
    }
    for (std::size_t i = 0; i < count; ++i) firstOut[i + 1] += firstOut[i];
    std::vector<std::uint32_t> targets(edges.size());
    std::vector<std::size_t> next(firstOut.begin(), firstOut.end() - 1);
    for (const PieceEdge& edge : edges) targets[next[edge.from]++] = edge.to;

    std::vector<int> ranks(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = firstOut[i]; k < firstOut[i + 1]; ++k)
            ranks[targets[k]] = std::max(ranks[targets[k]], ranks[i] + 1);

    for (std::size_t i = count; i-- > 0;) {
        if (fanOut[i] == 0 || fanIn[i] > fanOut[i]) continue;
        int nearest = std::numeric_limits<int>::max();
        for (std::size_t k = firstOut[i]; k < firstOut[i + 1]; ++k)
            nearest = std::min(nearest, ranks[targets[k]]);
        ranks[i] = nearest - 1;
    }
    return ranks;
}

}  // namespace quantloupe
