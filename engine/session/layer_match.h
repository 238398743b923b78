// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matches the layers of a changed model with those of the previous one: by name, then by structure, in graph
// order.

#include <map>
#include <string>
#include <vector>

#include "session/caches/layer_signature.h"

namespace quantloupe {

struct LayerMatch {
    std::map<std::string, std::string> newNames;  ///< old to new name of every matched layer
    /// Layers of the previous model without a match, in graph order.
    std::vector<std::string> unmatched;
    std::vector<std::string> added;  ///< layers that the previous model does not have
    /// Whether all layers match under their old names and none is added.
    bool unchanged() const;
};

/// Matches the layers. Names that the exporter generated from an operator and a number ("Conv_12") mean
/// little once a layer has been inserted, so such layers are matched by structure first. Ambiguous layers
/// stay unmatched.
LayerMatch matchLayers(const std::vector<LayerSignature>& before, const std::vector<LayerSignature>& now);

}  // namespace quantloupe
