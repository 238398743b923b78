// SPDX-License-Identifier: Apache-2.0
#include "session/evaluation_data.h"

#include "session/session_parts.h"

namespace quantloupe {

DatasetPtr evaluationData(Session& session) {
    const SessionSamples& samples = partsOf(session).samples;
    return samples.available() ? samples.inDataOrder() : nullptr;
}

bool hasBinaryLabels(Session& session) { return partsOf(session).samples.binaryLabels(); }

const SampleBatches& evaluationBatches(Session& session) {
    SessionSamples& samples = partsOf(session).samples;
    samples.requireEvaluable();
    return samples.batches();
}

}  // namespace quantloupe
