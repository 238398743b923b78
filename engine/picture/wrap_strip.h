// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wraps a long strip into columns next to each other, so that a whole network fits on a screen.

#include "picture/strip_layout.h"

namespace quantloupe {

/// Cuts the laid-out strip between rows into columns of about the same height; together they are about
/// `aspect` times as wide as high. Strips that are short for their width are not changed. See wrap_strip.cpp.
void wrapStrip(const Strip& strip, double boxWidth, double aspect, PieceLayout& layout);

}  // namespace quantloupe
