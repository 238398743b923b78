// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of a layer: multiply-accumulates per sample, and parameters.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "model/graph.h"

namespace quantloupe {

struct LayerCost {
    /// of Conv, ConvTranspose, Gemm, MatMul, their integer versions, LSTM, GRU, RNN and Attention; 0 for
    /// other operators
    std::uint64_t macs = 0;
    std::string macsReason;  ///< why `macs` is unknown (and 0); empty if it is known
    bool assumed = false;    ///< a symbolic dimension other than the first counts as 1
    /// Elements of its float constants, and codes of weights and biases, except scalars such as the bounds of
    /// a Clip.
    std::uint64_t parameters = 0;
};

/// Tensor shapes of a run with `samples` samples. A tensor that was fused into the next one may be missing.
struct MeasuredShapes {
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> dims;  ///< null: no run yet
    std::uint64_t samples = 1;
};

/// Uses the shapes in `measured` where available. Otherwise a symbolic dimension counts as 1, and the cost is
/// unknown if shape inference does not know a shape.
LayerCost costOf(const Graph& graph, const Node& node, const MeasuredShapes& measured = {});

}  // namespace quantloupe
