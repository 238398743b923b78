// SPDX-License-Identifier: Apache-2.0
#include "session/studies/forecast.h"

#include "session/stages/network_states.h"

namespace quantloupe {

std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel) {
    const EvaluationObserver silent;
    const EvaluationRequest request{partsOf(session), config, silent, cancel, EvaluationPurpose::Experiment};
    const Evaluation evaluation = evaluationOf(request, resolveNetwork(request));
    return request.parts.predictor.expect(predictableState(request, evaluation));
}

ForecastBasis forecastBasis(Session& session) {
    EditPredictor& predictor = partsOf(session).predictor;
    const MeasuredState& last = predictor.last();
    return {last.context, last.quantized, predictor.model().observations(last.context)};
}

}  // namespace quantloupe
