// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plain layered layout for pieces that are too large for dot.

#include "base/cancel.h"
#include "picture/piece.h"

namespace quantloupe {

/// Lays out a piece in the rows of piece.ranks. The time is about linear in work(): about 0.2 s for 100,000.
/// Throws Cancelled. May be called from any thread.
PieceLayout layeredLayout(const Piece& piece, double boxWidth, double boxHeight, const CancelToken& cancel);

}  // namespace quantloupe
