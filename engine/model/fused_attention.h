// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes that all attention operators have in common. Dimensions: B batch, S queries, T keys, N heads, H
// head size.

#include <optional>

#include "model/fused_body.h"

namespace quantloupe {

/// The inputs of one attention: B×N×S×H, B×N×T×H and B×N×T×H.
struct FusedAttention {
    FusedBody& body;
    FusedBody::Operand query, key, value;
    FusedBody::Operand scale;
    int mask, bias;  ///< inputs of the operator
    bool unidirectional;
    FusedBody::Operand positions = {};  ///< of the queries among the keys, S×1 or B×1×S×1; empty: from 0
    FusedBody::Operand lengths = {};    ///< B×1: the valid keys of each sample, with the past; empty: all
    std::int64_t window = -1;           ///< the most recent keys that a query attends to; -1: all
    float softcap = 0;                  ///< the limit of the scores; 0: none
};

/// B×S×(N·H) becomes B×N×S×H, and the reverse.
FusedBody::Operand splitHeads(FusedBody& body, const FusedBody::Operand& hidden, std::int64_t heads);
FusedBody::Operand joinHeads(FusedBody& body, const FusedBody::Operand& heads);

/// The positions of the queries after so many keys, S×1.
FusedBody::Operand positionsAfter(FusedBody& body, const FusedBody::Operand& start,
                                  const FusedBody::Operand& query);

/// Returns B×S×(N·H).
FusedBody::Operand attend(const FusedAttention& attention);

/// The scale of the scores: the attribute, or the one for the width of the heads, which is computed if it is
/// unknown.
FusedBody::Operand scoreScale(FusedBody& body, std::optional<std::int64_t> width,
                              const FusedBody::Operand& query);

}  // namespace quantloupe
