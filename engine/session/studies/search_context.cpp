// SPDX-License-Identifier: Apache-2.0
#include "session/studies/search_context.h"

#include "session/session_parts.h"

namespace quantloupe {

Version searchContext(Session& session) {
    const SessionParts& parts = partsOf(session);
    parts.samples.require();
    return VersionBuilder()
        .add(parts.model.graph->version())
        .add(parts.samples.evaluationVersion())
        .add(parts.samples.calibration()->version())
        .add(parts.options.arithmetic)
        .finish();
}

SampleSplit splitSamples(Session& session) {
    constexpr std::size_t kHeldOutOf = 3;
    const SessionSamples& samples = partsOf(session).samples;
    samples.require();
    const DatasetPtr all = samples.inDataOrder();
    std::vector<std::size_t> search, heldOut;
    for (std::size_t i = 0; i < all->size(); ++i)
        (i / samples.together() % kHeldOutOf == kHeldOutOf - 1 ? heldOut : search).push_back(i);
    return {all, subset(all, search), subset(all, heldOut), samples.calibration()};
}

}  // namespace quantloupe
