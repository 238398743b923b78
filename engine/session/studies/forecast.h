// SPDX-License-Identifier: Apache-2.0
#pragma once
// Predicts the effect of an edit before it is made.

#include <optional>
#include <set>

#include "session/session.h"

namespace quantloupe {

/// Predicts the change from the last evaluated configuration to this one. Resolves the layer states, but runs
/// no inference and stores nothing. Empty unless the prediction is trusted (session/studies/effect_model.h),
/// which requires Session::measureInBackground(). Throws Error, Cancelled.
std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel = {});

/// The basis of the next prediction.
struct ForecastBasis {
    Version context;             ///< of everything except which layers are quantized
    std::set<NodeId> quantized;  ///< quantized layers of the last evaluated configuration; not of experiments
    std::size_t observations = 0;  ///< number of measured edits in this context
};
ForecastBasis forecastBasis(Session& session);

}  // namespace quantloupe
