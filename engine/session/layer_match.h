// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layer of a changed model is which of the one before: by name, then by structure, in the order of the graph.

#include <map>
#include <string>
#include <vector>

#include "session/layer_signature.h"

namespace quantloupe {

struct LayerMatch {
    std::map<std::string, std::string> newNames;  ///< of every layer that was found again
    std::vector<std::string> unmatched;           ///< layers of the model before that were not, in its order
    std::vector<std::string> added;               ///< layers that the model before did not have
    bool unchanged() const;                       ///< all found, under their names, and none added
};

/// A name that the exporter made of an operator and a number ("Conv_12") means little once something was inserted, so
/// such layers are matched by structure first. What could be several layers and cannot be told apart stays unmatched.
LayerMatch matchLayers(const std::vector<LayerSignature>& before, const std::vector<LayerSignature>& now);

}  // namespace quantloupe
