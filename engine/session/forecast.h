// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an edit is expected to do before it is made.

#include <optional>

#include "session/session.h"

namespace quantloupe {

/// From the configuration that was measured last to this one: resolves its states, runs nothing, keeps nothing. Empty unless the
/// prediction may be believed (session/effect_model.h), which takes Session::study(). Throws Error, Cancelled.
std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config, const CancelToken& cancel = {});

}  // namespace quantloupe
