// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of nodes that run as one kernel if no intermediate result is needed: a bias added after a matrix
// product, a transposition before it, a batch norm and Swish after a convolution, a scale and mask before
// Softmax, Gelu and LayerNormalization composed of simpler operators. The kernel rounds at each step like the
// nodes, so the values do not depend on which tensors are observed.

#include <functional>
#include <optional>
#include <vector>

#include "model/graph.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// Information that a fusion may use while a program is compiled.
struct FusionScope {
    const Graph& graph;
    /// The values are not observed, quantized or provided.
    std::function<bool(TensorId)> hidden;
    std::function<const Constant*(TensorId)> constant;  ///< null if not known yet
    std::function<const TensorDesc*(TensorId)> desc;    ///< null if not computed or known yet
};

struct Fusion {
    Node node;                    ///< replaces all of them; exists only in this program
    std::vector<NodeId> covered;  ///< the replaced nodes, including the first one
};

/// Returns the fusion whose first node, in graph order, is `first`.
std::optional<Fusion> findFusion(const FusionScope& scope, NodeId first);

}  // namespace quantloupe
