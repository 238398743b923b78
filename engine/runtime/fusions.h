// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of nodes that run as one kernel where nobody looks in between: a bias behind a matrix product, a scale and mask
// before Softmax, Gelu and LayerNormalization written out. The kernel rounds at each step as the nodes would, so what is
// observed changes no value.

#include <functional>
#include <optional>
#include <vector>

#include "model/graph.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// What a fusion may rely on while a program is compiled.
struct FusionScope {
    const Graph& graph;
    std::function<bool(TensorId)> hidden;               ///< nobody needs the values: not observed, quantized or provided
    std::function<const Constant*(TensorId)> constant;  ///< null unless known now
    std::function<const TensorDesc*(TensorId)> desc;    ///< null unless computed or known already
};

struct Fusion {
    Node node;                    ///< stands for all of them; made for this program only
    std::vector<NodeId> covered;  ///< the nodes that it replaces, the first one among them
};

/// The group whose first node, in graph order, is `first`.
std::optional<Fusion> findFusion(const FusionScope& scope, NodeId first);

}  // namespace quantloupe
