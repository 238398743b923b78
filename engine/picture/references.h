// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that are read all over the network (masks, position and time embeddings), drawn as references at
// their readers.

#include "picture/picture.h"

namespace quantloupe {

/// Marks the long edges of boxes with many readers as references if every part stays connected without them.
/// Boxes must not be placed yet. O(nodes + edges).
void markReferences(Picture& picture);
/// Adds the stubs of the marked edges. Boxes must be placed.
void placeReferences(Picture& picture);

}  // namespace quantloupe
