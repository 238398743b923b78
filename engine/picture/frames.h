// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames around the boxes of open blocks.

#include "picture/picture.h"

namespace quantloupe {

/// Returns a frame for each open block (Group::block) if no other box touches the frame, so that a frame
/// never encloses a layer of another block. O(boxes log boxes + boxes in the frames' rows).
std::vector<PictureFrame> framesOf(const Picture& picture);

}  // namespace quantloupe
