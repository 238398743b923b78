// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simplifies dense blocks as PyTorch exports them: every layer concatenates all earlier results of the block
// again, so the k-th Concat has k inputs and the drawing has n²/2 long edges. If the inputs of a Concat begin
// with all inputs of an earlier Concat, these edges are hidden and replaced with one edge from the earlier
// Concat. The graph is then as readable as the same network written with a running Concat. Cost: O(inputs of
// all Concats).

#include "picture/picture.h"

namespace quantloupe {

/// Sets PictureEdge::hidden and adds the replacing edges (PictureEdge::carries). Boxes must not be placed
/// yet; collapsed Concats are not changed.
void carryConcatPrefixes(const Graph& graph, Picture& picture);

}  // namespace quantloupe
