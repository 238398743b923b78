// SPDX-License-Identifier: Apache-2.0
#pragma once
// A long strip in columns beside each other, so that a whole network fits a screen.

#include "picture/strip_layout.h"

namespace quantloupe {

/// Cuts the laid-out strip between rows into columns of about the same height, together about 1.6 times as wide as high.
/// Strips that are short for their width stay as they are. See wrap_strip.cpp.
void wrapStrip(const Strip& strip, double boxWidth, double boxHeight, PieceLayout& layout);

}  // namespace quantloupe
