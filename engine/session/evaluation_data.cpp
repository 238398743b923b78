// SPDX-License-Identifier: Apache-2.0
#include "session/evaluation_data.h"

#include "session/session_impl.h"

namespace quantloupe {

DatasetPtr evaluationData(Session& session) {
    const Session::Impl& impl = session.internal();
    if (!impl.evaluationData) return nullptr;
    std::vector<std::size_t> positions(impl.order.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[impl.order[i]] = i;
    return subset(impl.evaluationData, std::move(positions));
}

std::size_t Session::sampleCount() const {
    m_impl->requireData();
    return m_impl->evaluationData->size();
}

std::string Session::sampleName(std::size_t sample) const {
    m_impl->requireData();
    return m_impl->evaluationData->sampleName(sample);
}

}  // namespace quantloupe
