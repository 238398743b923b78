// SPDX-License-Identifier: Apache-2.0
#include "session/studies/forecast.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "session/stages/network_states.h"

namespace quantloupe {

std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel) {
    const EvaluationObserver silent;
    const EvaluationRequest request{partsOf(session), config, silent, cancel, EvaluationPurpose::Experiment};
    const Evaluation evaluation = evaluationOf(request, resolveNetwork(request));
    const MeasuredState state = predictableState(request, evaluation);
    std::vector<NodeId> changed;
    std::ranges::set_symmetric_difference(state.quantized, request.parts.predictor.last().quantized,
                                          std::back_inserter(changed));
    if (changed.size() > kMostForecast) return std::nullopt;
    return request.parts.predictor.expect(state);
}

ForecastBasis forecastBasis(Session& session) {
    EditPredictor& predictor = partsOf(session).predictor;
    const MeasuredState& last = predictor.last();
    return {last.context, last.quantized, predictor.model().observations(last.context)};
}

}  // namespace quantloupe
