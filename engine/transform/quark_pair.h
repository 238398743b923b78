// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quark's scaling of a pair of layers.

#include <vector>

#include "transform/weight_editor.h"

namespace quantloupe {

struct QuarkPairOptions {
    bool appendBias = false;      ///< the head's bias counts in its ranges
    double weightThreshold = 0.5; ///< channels whose two ranges add up to less stay as they are
};

/// Scales once, on the weights as they are now. Returns what the head's output channels and bias were multiplied
/// with and the tail's input channels divided by.
std::vector<float> scaleQuarkPair(EditedLayer& head, EditedLayer& tail, const QuarkPairOptions& options);

/// The head's ranges: the largest |w| of each output channel, or of it and its bias divided by the shrink factor.
std::vector<float> quarkHeadRanges(const EditedLayer& head, bool appendBias);

}  // namespace quantloupe
