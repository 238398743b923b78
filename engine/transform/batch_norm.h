// SPDX-License-Identifier: Apache-2.0
#pragma once
// The function of a BatchNormalization node, or of a part of one written as Mul, Add, Sub or Div, and which
// layer's weights it can be folded into.

#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

/// y = (x - mean) * scale + beta for each channel; scale = gamma / sqrt(variance + epsilon), all float32.
/// gamma is empty for a Mul, Add, Sub or Div, which does not determine the distribution of its outputs.
struct BatchNorm {
    std::vector<float> gamma, beta, mean, scale;
    std::size_t channels() const { return scale.size(); }
    /// Returns the batch norm of the channels [first, first + count).
    BatchNorm part(std::size_t first, std::size_t count) const;
    /// Returns a batch norm in which the parameters of each channel are repeated for `times` adjacent
    /// features.
    BatchNorm repeated(std::size_t times) const;
    /// Returns whether the batch norm only scales, without a shift.
    bool onlyScales() const;
};

/// Reads the node's constants. Returns why it cannot be folded into any layer, or an empty string.
std::string readBatchNorm(const Graph& graph, const Node& node, BatchNorm& result);

/// Reads a Mul, Add, Sub or Div of a tensor of this rank, with channels on `axis`, and a constant with one
/// value or one value per channel. Returns false for every other node.
bool readAffine(const Graph& graph, const Node& node, std::size_t rank, std::size_t axis,
                std::size_t channels, BatchNorm& result);

/// A layer that a batch norm could be folded into.
struct FoldHost {
    WeightLayout layout;
    ConstantPtr weight;
    std::vector<float> bias;  ///< zeros if the layer has none
};

/// Return why a batch norm with `channels` channels cannot be folded into a layer before it (checkHostBefore)
/// or after it (checkHostAfter), or an empty string. `weight` and `bias` are the layer's current constants
/// (null: computed at run time, or no bias).
std::string checkHostBefore(const Node& node, bool hasBias, const ConstantPtr& weight,
                            const ConstantPtr& bias, std::size_t channels, FoldHost& host);
std::string checkHostAfter(const Node& node, bool hasBias, const ConstantPtr& weight, const ConstantPtr& bias,
                           std::size_t channels, FoldHost& host);

/// Folds a batch norm into the layer before it; returns the layer's new weights and changes host.bias: W' = W
/// scale, b' = beta - (mean - b) scale.
std::vector<float> foldIntoPrevious(FoldHost& host, const BatchNorm& norm);
/// Folds a batch norm into the layer after it: b' = b + (W summed over the kernel) (beta - mean scale), W' =
/// W scale.
std::vector<float> foldIntoNext(FoldHost& host, const BatchNorm& norm);

}  // namespace quantloupe
