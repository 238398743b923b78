// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equalization of a whole graph: which sets, how often, and the high-bias fold after it.

#include <span>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "transform/equalization_sets.h"
#include "transform/high_bias_fold.h"
#include "transform/junction.h"

namespace quantloupe {

/// A set, and what became of it.
struct EqualizedSet {
    LayerSet set;
    bool enabled = true;                      ///< false: named in options.off
    std::vector<std::vector<float>> factors;  ///< one list a junction: the product over all steps
    /// Layers in a row with nothing but activations between; otherwise the set is one junction of several layers, or
    /// with pools or sums in it, and high biases cannot be folded over it.
    bool plain = true;
};

struct EqualizeResult {
    GraphPtr graph;  ///< node ids as in the graph given
    std::vector<EqualizedSet> sets;
    std::vector<OutputStatistics> statistics;  ///< those given, as scaling and the high-bias fold left them
    std::vector<Junction> junctions;  ///< each once, however many sets it is in
};

/// Scales the graph's sets `options.steps` times in their order (-1: until their weights come to rest) and, if
/// `highBias`, folds high biases over the same sets afterwards. `statistics` has one entry a node; layers with
/// `excluded` (one a node; empty: none) take no part. Throws Error for fewer than -1 steps.
EqualizeResult equalize(const GraphPtr& graph, const EqualizationOptions& options, bool highBias,
                        std::span<const OutputStatistics> statistics, const std::vector<bool>& excluded,
                        std::vector<std::string>& notices);

}  // namespace quantloupe
