// SPDX-License-Identifier: Apache-2.0
#include "picture/waists.h"

#include <algorithm>

namespace quantloupe {

std::vector<int> findWaists(const std::vector<int>& ranks, const std::vector<PieceEdge>& edges) {
    const int rows = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end()) + 1;
    std::vector<int> nodesIn(static_cast<std::size_t>(rows), 0);
    for (const int rank : ranks) ++nodesIn[static_cast<std::size_t>(rank)];
    // passing[r]: number of edges that cross row r without ending there; first stored as differences.
    std::vector<int> passing(static_cast<std::size_t>(rows) + 1, 0);
    for (const PieceEdge& edge : edges) {
        ++passing[static_cast<std::size_t>(ranks[edge.from]) + 1];
        --passing[static_cast<std::size_t>(ranks[edge.to])];
    }
    std::vector<int> waists;
    int crossing = 0;
    for (int row = 0; row < rows; ++row) {
        crossing += passing[static_cast<std::size_t>(row)];
        if (crossing == 0 && nodesIn[static_cast<std::size_t>(row)] == 1) waists.push_back(row);
    }
    return waists;
}

}  // namespace quantloupe
