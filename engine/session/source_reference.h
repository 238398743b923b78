// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where in the *source* network a unit's output is, and what equalization divided its channels by. Internal to
// engine/session.
//
// Transforms keep the name of the tensor that a layer makes (a folded batch norm hands its output on to its host), so
// the counterpart is the tensor of the same name. Cross-layer equalization divides the channels between two layers by
// the factors that Prepared::junctions tells; multiplied back, the prepared network's tensor is the source's again up to
// rounding, where the transforms keep the function (Clip(0, 6) as Relu does not: that difference is meant to show).
// What the high-bias fold moves out of a junction is not told: those tensors have no counterpart.

#include <string>
#include <vector>

#include "quantize/units.h"

namespace quantloupe {

struct SourceTensor {
    TensorId tensor;             ///< of the source graph; invalid: no counterpart
    std::vector<float> factors;  ///< one a channel (axis 1), to multiply with; empty: all 1
    std::string reason;          ///< why there is no counterpart
};

struct SourceReference {
    std::vector<SourceTensor> units;  ///< one a unit
};

/// `highBiasFold`: whether the configuration asked for it.
SourceReference sourceReference(const Prepared& prepared, const UnitList& units, bool highBiasFold);

}  // namespace quantloupe
