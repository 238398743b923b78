// SPDX-License-Identifier: Apache-2.0
#pragma once
// Identity of a layer apart from its name, so that the layer is found again in a re-exported model.

#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct LayerSignature {
    std::string name;
    std::string op;
    Version local;  ///< hash of operator, attributes, shapes of outputs and constants
    Version wide;   ///< the same, including the layers up to two steps away
    bool operator==(const LayerSignature&) const = default;
};

/// Returns one signature per node, in graph order. Values of weights and names of tensors are ignored.
/// O(nodes + edges).
std::vector<LayerSignature> layerSignatures(const Graph& graph);

}  // namespace quantloupe
