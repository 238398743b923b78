// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equalization of a whole graph: selects the sets, repeats the scaling, and runs the high-bias fold
// afterwards.

#include <span>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "transform/equalization_sets.h"
#include "transform/high_bias_fold.h"
#include "transform/junction.h"

namespace quantloupe {

/// A set and its equalization result.
struct EqualizedSet {
    LayerSet set;
    bool enabled = true;                      ///< false: listed in options.off
    std::vector<std::vector<float>> factors;  ///< one list per junction: the product over all steps
    /// A sequence of layers with nothing but activations between. Otherwise the set is one junction of
    /// several layers, or has pools or sums in it, and high biases cannot be folded over it.
    bool plain = true;
};

struct EqualizeResult {
    GraphPtr graph;  ///< node ids as in the given graph
    std::vector<EqualizedSet> sets;
    std::vector<OutputStatistics> statistics;  ///< the given statistics after scaling and the high-bias fold
    std::vector<Junction> junctions;           ///< each once, even if it is in several sets
    bool foldedHighBias = false;               ///< the high-bias fold changed a bias
};

/// Scales the graph's sets `options.steps` times in order (-1: until the weights converge) and, with
/// `highBias`, folds high biases over the same sets afterwards. `statistics` has one entry per node; layers
/// with `excluded` (one flag per node; empty: none) take no part. Throws Error if `options.steps` is below
/// -1.
EqualizeResult equalize(const GraphPtr& graph, const EqualizationOptions& options, bool highBias,
                        std::span<const OutputStatistics> statistics, const std::vector<bool>& excluded,
                        std::vector<std::string>& notices);

}  // namespace quantloupe
