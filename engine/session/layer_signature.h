// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer is but for its name, so that it is found again in a model that was exported anew.

#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct LayerSignature {
    std::string name;
    std::string op;
    Version local;  ///< operator, attributes, shapes of outputs and constants
    Version wide;   ///< and those of the layers up to two steps away
    bool operator==(const LayerSignature&) const = default;
};

/// One a node, in graph order. Values of weights and names of tensors do not count. O(nodes + edges).
std::vector<LayerSignature> layerSignatures(const Graph& graph);

}  // namespace quantloupe
