// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a session to what an export tells of.

#include "interchange/dialect.h"
#include "session/session.h"

namespace quantloupe {

/// Evaluates and calibrates as far as the dialect needs it and the session's data allow. The caller fills in the paths and the
/// preprocessing. Throws Error (a dialect that needs scales, and no data that calibrate), Cancelled.
ExportSource gatherExport(Session& session, const QuantizationConfig& config, const Dialect& dialect,
                          const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

}  // namespace quantloupe
