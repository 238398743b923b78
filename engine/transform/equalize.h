// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equalization of a whole graph: which sets, how often, and the high-bias fold after it.

#include <span>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "transform/equalization_sets.h"
#include "transform/high_bias_fold.h"

namespace quantloupe {

/// A set, and what became of it.
struct EqualizedSet {
    LayerSet set;
    bool enabled = true;                      ///< false: named in options.off
    std::vector<std::vector<float>> factors;  ///< one list a junction: the product over all steps
};

struct EqualizeResult {
    GraphPtr graph;  ///< node ids as in the graph given
    std::vector<EqualizedSet> sets;
};

/// Scales the graph's sets `options.steps` times in their order and, if `highBias`, folds high biases over
/// the same sets afterwards. `statistics` has one entry a node. Throws Error for a negative number of steps.
EqualizeResult equalize(const GraphPtr& graph, const EqualizationOptions& options, bool highBias,
                        std::span<const OutputStatistics> statistics, std::vector<std::string>& notices);

}  // namespace quantloupe
