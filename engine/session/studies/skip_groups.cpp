// SPDX-License-Identifier: Apache-2.0
#include "session/studies/skip_groups.h"

#include <map>

#include "session/session_parts.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {

std::vector<SkipGroup> skipGroups(Session& session, const QuantizationConfig& config,
                                  const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    const auto plan = parts.plan(config, parts.runner.control(cancel));
    const std::vector<std::size_t> owners = scaleOwners(plan->units);
    const auto sourceOf = [&](std::size_t unit) {
        return plan->prepared->sourceOf[plan->units.units[unit].layer.index()];
    };
    std::map<NodeId, SkipGroup> groups;
    for (std::size_t u = 0; u < owners.size(); ++u) {
        if (!plan->units.units[u].quantized) continue;
        SkipGroup& group = groups[sourceOf(owners[u])];
        group.owner = sourceOf(owners[u]);
        group.nodes.push_back(sourceOf(u));
        group.layers.push_back(session.graph().node(sourceOf(u)).name);
    }
    std::vector<SkipGroup> list;
    for (auto& [owner, group] : groups) list.push_back(std::move(group));
    return list;
}

QuantizationConfig withRulesFixed(Session& session, const QuantizationConfig& config,
                                  const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    return withThresholdsFixed(withThresholdsMeasured(parts, config, parts.runner.control(cancel)));
}

}  // namespace quantloupe
