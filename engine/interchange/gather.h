// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects the input of an export from a session.

#include "interchange/file_format.h"
#include "session/session.h"

namespace quantloupe {

/// Evaluates and calibrates as far as the format needs it and the session's data allow. The caller fills in
/// the paths and the preprocessing. Throws Error (for example if the format needs scales and there is no
/// calibration data), Cancelled.
ExportSource gatherExport(Session& session, const QuantizationConfig& config, const FileFormat& format,
                          const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

}  // namespace quantloupe
