// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a BatchNormalization node computes, or a part of one written as Mul, Add, Sub or Div, and which layer's weights can take it
// over.

#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

/// y = (x - mean) * scale + beta for each channel; scale = gamma / sqrt(variance + epsilon), all float32. Of a Mul, Add, Sub or Div
/// gamma is empty: it does not tell how its outputs are spread.
struct BatchNorm {
    std::vector<float> gamma, beta, mean, scale;
    std::size_t channels() const { return scale.size(); }
};

/// Reads the node's constants. Returns why it cannot be folded anywhere, or an empty text.
std::string readBatchNorm(const Graph& graph, const Node& node, BatchNorm& result);

/// Reads a Mul, Add, Sub or Div by a constant with one value, or one a channel, of a tensor of this rank whose channels are `axis`. False
/// for every other node.
bool readAffine(const Graph& graph, const Node& node, std::size_t rank, std::size_t axis, std::size_t channels, BatchNorm& result);

/// A layer that could take a batch norm over.
struct FoldHost {
    WeightLayout layout;
    ConstantPtr weight;
    std::vector<float> bias;  ///< zeros where the layer has none
};

/// `weight` and `bias` are the layer's constants as they are now (null: computed while running, or no bias).
/// Returns why the layer cannot take over a batch norm of `channels` channels, or an empty text.
std::string checkHostBefore(const Node& node, bool hasBias, const ConstantPtr& weight,
                            const ConstantPtr& bias, std::size_t channels, FoldHost& host);
std::string checkHostBehind(const Node& node, bool hasBias, const ConstantPtr& weight,
                            const ConstantPtr& bias, std::size_t channels, FoldHost& host);

/// The layer's new weights; changes host.bias. The batch norm follows the layer:
/// W' = W scale, b' = beta - (mean - b) scale.
std::vector<float> foldBefore(FoldHost& host, const BatchNorm& norm);
/// The batch norm stands in front: b' = b + (W summed over the kernel) (beta - mean scale), W' = W scale.
std::vector<float> foldBehind(FoldHost& host, const BatchNorm& norm);

}  // namespace quantloupe
