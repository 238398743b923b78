// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repeated blocks of a network as tables: a row for each block, and a column for each role, which is the same
// layer in every block ("q", "k", "v" of a transformer).

#include <QString>
#include <vector>

#include "model/graph.h"

namespace quantloupe::ui {

struct BlockMatrix {
    QString title;                ///< where the blocks are: "encoder/layer.*", or "block 1 … block 11"
    std::vector<QString> blocks;  ///< "layer.0"
    std::vector<QString> roles;   ///< the shortest names that distinguish the layers within a block
    std::vector<NodeId> layers;   ///< by block, then by role; invalid where a block has no such layer

    NodeId at(std::size_t block, std::size_t role) const { return layers[block * roles.size() + role]; }
};

/// Finds blocks of weighted layers (Conv, ConvTranspose, Gemm, MatMul): scopes whose names differ only in
/// their numbers or, in a network without scopes, the parts between waists (picture/groups.h) with the same
/// operators. There are three blocks or more with the same roles, two or more, and the same operators. Blocks
/// with additional layers are included, such as the first one of each stage of a ResNet. Matrices are in
/// graph order and share no layers. Empty if the network has no such blocks. O(length of all names × depth).
std::vector<BlockMatrix> blockMatrices(const Graph& graph);

}  // namespace quantloupe::ui
