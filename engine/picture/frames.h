// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames around the boxes of open blocks.

#include "picture/picture.h"

namespace quantloupe {

/// A frame for each block (Group::block) that is open and whose boxes lie together: no other box touches the frame, so
/// that a frame never claims a layer that is not its own. O(boxes log boxes + boxes in the frames' rows).
std::vector<PictureFrame> framesOf(const Picture& picture);

}  // namespace quantloupe
