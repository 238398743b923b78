// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers for trying out skips: layers that must go to float together, and configurations with fixed
// threshold rules.

#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// A quantized layer with the operators (MaxPool, Reshape...) that only pass its scale on.
struct SkipGroup {
    NodeId owner;                     ///< in the source graph
    std::vector<NodeId> nodes;        ///< including the owner, in graph order
    std::vector<std::string> layers;  ///< their names
};

/// Returns the groups of all quantized layers, in the order of their owners. Calibrates if necessary. Throws
/// Error, Cancelled.
std::vector<SkipGroup> skipGroups(Session& session, const QuantizationConfig& config,
                                  const CancelToken& cancel = {});

/// Replaces threshold rules with node rules for the layers that they cover now, so that later skips do not
/// change them. Throws Error, Cancelled.
QuantizationConfig withRulesFixed(Session& session, const QuantizationConfig& config,
                                  const CancelToken& cancel = {});

}  // namespace quantloupe
