// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the counterpart of a unit's output in the *source* network, and the factors by which transforms
// divided its channels. Internal to engine/session.
//
// Transforms keep the name of a layer's output tensor (a folded batch norm gives its output name to its
// host), so the counterpart is the tensor with the same name. Cross-layer equalization divides the channels
// between two layers by the factors in Prepared::junctions, and outlier migration those of a normalization or
// a Mul by the factors in Prepared::migrations. Multiplied by these factors, the prepared network's tensor
// equals the source's up to rounding if the transforms keep the function (replacing Clip(0, 6) with Relu does
// not, and this difference should be visible). The shift that high-bias folding removes from a junction is
// not recorded, so these tensors have no counterpart.

#include <string>
#include <vector>

#include "quantize/units.h"

namespace quantloupe {

struct SourceTensor {
    TensorId tensor;             ///< of the source graph; invalid: no counterpart
    std::vector<float> factors;  ///< one per channel, to multiply with; empty: all 1
    bool lastAxis = false;       ///< the channels are the last axis instead of axis 1
    std::string reason;          ///< why there is no counterpart
};

struct SourceReference {
    std::vector<SourceTensor> units;  ///< one per unit
};

/// Finds the counterparts. `highBiasFold` says whether the configuration enables high-bias folding.
SourceReference sourceReference(const Prepared& prepared, const UnitList& units, bool highBiasFold);

}  // namespace quantloupe
