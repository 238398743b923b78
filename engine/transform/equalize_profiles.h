// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the profiles of equalization share. Internal to engine/transform.

#include "transform/equalize.h"

namespace quantloupe {

/// Each junction of Quark's patterns as a set of two, with the product of all that its pair and triples did.
std::vector<EqualizedSet> scaleAsQuark(WeightEditor& weights, const EqualizationOptions& options,
                                       const std::vector<bool>& excluded, std::vector<std::string>& notices);

struct ProfileResult {
    std::vector<EqualizedSet> sets;    ///< one a junction
    std::vector<Junction> junctions;   ///< without ranges
};

/// All exact junctions of the graph.
ProfileResult equalizeEverywhere(WeightEditor& weights, const EqualizationOptions& options,
                                 const std::vector<bool>& excluded, std::vector<std::string>& notices);

/// Tells the entries of options.off that switched nothing off.
void tellIdleOff(const std::vector<std::vector<std::string>>& off, const std::vector<bool>& used,
                 std::vector<std::string>& notices);

}  // namespace quantloupe
