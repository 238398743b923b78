// SPDX-License-Identifier: Apache-2.0
#pragma once
// What goes to float together, and configurations whose threshold rules stand still: for whoever tries out skips.

#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// A quantized layer with the operators (MaxPool, Reshape...) that only pass its scale on.
struct SkipGroup {
    NodeId owner;                     ///< in the source graph
    std::vector<NodeId> nodes;        ///< the owner among them, in graph order
    std::vector<std::string> layers;  ///< their names
};

/// Of all quantized layers, in the order of the owners. Calibrates if that is not done yet. Throws Error, Cancelled.
std::vector<SkipGroup> skipGroups(Session& session, const QuantizationConfig& config, const CancelToken& cancel = {});

/// Threshold rules become node rules of what they cover now, so that later skips do not move them. Throws Error, Cancelled.
QuantizationConfig withRulesFixed(Session& session, const QuantizationConfig& config, const CancelToken& cancel = {});

}  // namespace quantloupe
