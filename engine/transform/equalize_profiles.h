// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the profiles of equalization. Internal to engine/transform.

#include "transform/equalize.h"

namespace quantloupe {

/// Equalizes as Quark does. Returns each junction of Quark's patterns as a set of two layers, with the
/// product of the factors of its pairs and triples.
std::vector<EqualizedSet> scaleAsQuark(WeightEditor& weights, const EqualizationOptions& options,
                                       const std::vector<bool>& excluded, std::vector<std::string>& notices);

struct ProfileResult {
    std::vector<EqualizedSet> sets;   ///< one per junction
    std::vector<Junction> junctions;  ///< without ranges
};

/// Equalizes over all junctions of the graph where this is exact.
ProfileResult equalizeEverywhere(WeightEditor& weights, const EqualizationOptions& options,
                                 const std::vector<bool>& excluded, std::vector<std::string>& notices);

/// Reports entries of options.off that disabled nothing.
void reportUnusedOff(const std::vector<std::vector<std::string>>& off, const std::vector<bool>& used,
                     std::vector<std::string>& notices);

}  // namespace quantloupe
