// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quark's scaling of a pair of layers.

#include <vector>

#include "transform/weight_editor.h"

namespace quantloupe {

struct QuarkPairOptions {
    bool appendBias = false;       ///< the head's ranges include its bias
    double weightThreshold = 0.5;  ///< channels whose two ranges sum to less are not scaled
};

/// Scales once, starting from the current weights. Returns the factors by which the head's output channels
/// and bias were multiplied and the tail's input channels divided.
std::vector<float> scaleQuarkPair(EditedLayer& head, EditedLayer& tail, const QuarkPairOptions& options);

/// The head's ranges: the largest |w| of each output channel; with the bias, the larger of it and |bias| /
/// shrink factor.
std::vector<float> quarkHeadRanges(const EditedLayer& head, bool appendBias);

}  // namespace quantloupe
