// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of a layer: multiply-accumulates per sample, and parameters.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct LayerCost {
    /// of Conv, ConvTranspose, Gemm, MatMul, their integer versions, Einsum of several operands, LSTM, GRU,
    /// RNN and Attention; 0 for other operators
    std::uint64_t macs = 0;
    std::string macsReason;  ///< why `macs` is unknown (and 0); empty if it is known
    bool assumed = false;    ///< a dynamic dimension other than the first has a size of assumed_sizes.h, or 1
    /// An unknown first dimension that no input has counts as 1, although it may be a multiple of the batch.
    bool guessed = false;
    std::uint64_t parameters = 0;  ///< elements of parametersOf()
};

/// Tensor shapes of a run with `samples` samples. A tensor that was fused into the next one may be missing.
struct MeasuredShapes {
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> dims;  ///< null: no run yet
    std::uint64_t samples = 1;
};

/// The shape of a tensor in the run, or of the tensor that it was fused into; null if neither is known.
const Dims* measuredDims(const Graph& graph, TensorId tensor, const MeasuredShapes& measured);

/// The costs of the layers of a network, to which it keeps a reference.
class LayerCosts {
  public:
    explicit LayerCosts(const Graph& graph, MeasuredShapes measured = {});

    /// Uses the measured shapes where available, then those for assumed sizes. Otherwise a symbolic dimension
    /// counts as 1, and the cost is unknown if shape inference does not know a shape.
    LayerCost of(const Node& node) const;

  private:
    const Graph& m_graph;
    MeasuredShapes m_measured;
    std::uint64_t m_fixedBatch;
};

/// The cost of a single layer. For many layers of a network, use LayerCosts.
inline LayerCost costOf(const Graph& graph, const Node& node, const MeasuredShapes& measured = {}) {
    return LayerCosts(graph, measured).of(node);
}

/// Returns the constants that a node reads as weights, biases and other data, each once: float constants, and
/// codes of weights and biases; not scalars such as the bounds of a Clip. Those that only pass through a node
/// on their way to another belong to the other. Several nodes may share a constant.
std::vector<const Constant*> parametersOf(const Graph& graph, const Node& node);

}  // namespace quantloupe
