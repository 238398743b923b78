// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer costs: multiply-accumulates for one sample, and parameters.

#include <cstdint>

#include "model/graph.h"

namespace quantloupe {

struct LayerCost {
    std::uint64_t macs = 0;        ///< of Conv, Gemm and MatMul; 0 where shapes are unknown
    std::uint64_t parameters = 0;  ///< elements of its float constants; a single number (a Clip's bound) is none
};

/// A symbolic first dimension counts as a batch of one.
LayerCost costOf(const Graph& graph, const Node& node);

}  // namespace quantloupe
