// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that are read all over the network (masks, position and time embeddings), drawn as references at their readers.

#include "picture/picture.h"

namespace quantloupe {

/// Marks the far edges of boxes that many others read as references, as long as every part stays connected without them.
/// Boxes must not have places yet. O(nodes + edges).
void markReferences(Picture& picture);
/// Gives the marked edges their stubs; boxes have their places.
void placeReferences(Picture& picture);

}  // namespace quantloupe
