// SPDX-License-Identifier: Apache-2.0
#pragma once
// Predicts the effect of an edit before it is made.

#include <optional>

#include "session/session.h"

namespace quantloupe {

/// Predicts the change from the last evaluated configuration to this one. Resolves the layer states, but runs
/// no inference and stores nothing. Empty unless the prediction is trusted (session/studies/effect_model.h),
/// which requires Session::measureInBackground(). Throws Error, Cancelled.
std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel = {});

}  // namespace quantloupe
