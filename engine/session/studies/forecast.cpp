// SPDX-License-Identifier: Apache-2.0
#include "session/studies/forecast.h"

#include "session/session_parts.h"

namespace quantloupe {

ForecastBasis forecastBasis(Session& session) {
    EditPredictor& predictor = partsOf(session).predictor;
    const MeasuredState& last = predictor.last();
    return {last.context, last.quantized, predictor.model().observations(last.context)};
}

}  // namespace quantloupe
