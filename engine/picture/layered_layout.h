// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plain layered layout for pieces that are too large for dot.

#include "base/cancel.h"
#include "picture/piece.h"

namespace quantloupe {

/// Rows as in piece.ranks. About linear in work(): 100,000 take some 0.2 s. Throws Cancelled. Any thread.
PieceLayout layeredLayout(const Piece& piece, double boxWidth, double boxHeight, const CancelToken& cancel);

}  // namespace quantloupe
