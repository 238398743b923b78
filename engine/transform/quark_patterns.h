// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the layers that AMD Quark's cross-layer equalization scales together.

#include <string>
#include <vector>

#include "transform/equalization_sets.h"

namespace quantloupe {

/// Returns pairs and triples in the order of one of Quark's passes, without repeating the first one at the
/// end. Layers with `excluded` (one flag per node; empty: none) take no part. Appends to `notices` where
/// Quark would scale incorrectly.
std::vector<LayerSet> findQuarkPatterns(const Graph& graph, const std::vector<bool>& excluded,
                                        std::vector<std::string>& notices);

}  // namespace quantloupe
