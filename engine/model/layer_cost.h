// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer costs: multiply-accumulates for one sample, and parameters.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "model/graph.h"

namespace quantloupe {

struct LayerCost {
    std::uint64_t macs = 0;        ///< of Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU and RNN; 0 for other operators
    std::string macsReason;        ///< why `macs` is not known and 0; empty if it is known
    bool assumed = false;          ///< a symbolic dimension other than the first counts as 1
    std::uint64_t parameters = 0;  ///< elements of its float constants; a single number (a Clip's bound) is none
};

/// Shapes of tensors in a run on `samples` samples at once. A tensor that was fused into the next one may be missing.
struct MeasuredShapes {
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> dims;  ///< null: nothing was run
    std::uint64_t samples = 1;
};

/// Takes shapes from `measured` where it has them. Otherwise a symbolic dimension counts as 1, and a shape that shape inference does not
/// know leaves the cost unknown.
LayerCost costOf(const Graph& graph, const Node& node, const MeasuredShapes& measured = {});

}  // namespace quantloupe
