// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exports from a session: collects what a format needs, and saves the quantized model.

#include "interchange/file_format.h"
#include "session/session.h"

namespace quantloupe {

/// Evaluates and calibrates as far as the format needs it and the session's data allow. The caller fills in
/// the paths and the preprocessing. Throws Error (for example if the format needs scales and there is no
/// calibration data), Cancelled.
ExportSource gatherExport(Session& session, const QuantizationConfig& config, const FileFormat& format,
                          const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

/// Saves the quantized model as a QDQ graph (Session::quantizedModel). Returns the notices of its plan, such
/// as saturated biases, and those about differences from the preview. Throws Error, and writes nothing then;
/// Cancelled.
std::vector<std::string> saveQuantizedModel(Session& session, const QuantizationConfig& config,
                                            const std::filesystem::path& path,
                                            const CancelToken& cancel = {});

}  // namespace quantloupe
