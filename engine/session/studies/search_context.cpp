// SPDX-License-Identifier: Apache-2.0
#include "session/studies/search_context.h"

#include "session/session_impl.h"

namespace quantloupe {

Version searchContext(Session& session) {
    const Session::Impl& impl = session.internal();
    impl.owner.sampleCount();
    return VersionBuilder()
        .add(impl.model.graph->version())
        .add(impl.evaluationData->version())
        .add(impl.calibrationData->version())
        .add(impl.options.arithmetic)
        .finish();
}

SampleSplit splitSamples(Session& session) {
    constexpr std::size_t kHeldOutOf = 3;
    Session::Impl& impl = session.internal();
    impl.requireData();
    std::vector<std::size_t> inOrder(impl.order.size()), search, heldOut;
    for (std::size_t i = 0; i < impl.order.size(); ++i) inOrder[impl.order[i]] = i;
    for (std::size_t i = 0; i < inOrder.size(); ++i)
        (i % kHeldOutOf == kHeldOutOf - 1 ? heldOut : search).push_back(i);
    const DatasetPtr all = subset(impl.evaluationData, inOrder);
    return {all, subset(all, search), subset(all, heldOut), impl.calibrationData};
}

}  // namespace quantloupe
