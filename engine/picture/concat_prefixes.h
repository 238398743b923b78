// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dense blocks as PyTorch writes them: every layer joins all results of the block anew, so that the k-th Concat has k inputs and
// the drawing n²/2 edges across everything. When a Concat's inputs begin with all inputs of an earlier Concat, those edges are
// hidden and one edge from the earlier Concat carries them: the graph becomes as readable as the same network written with a
// running Concat. Cost: O(inputs of all Concats).

#include "picture/picture.h"

namespace quantloupe {

/// Marks PictureEdge::hidden and adds the edges that carry. Boxes must not have places yet; collapsed Concats are left alone.
void carryConcatPrefixes(const Graph& graph, Picture& picture);

}  // namespace quantloupe
