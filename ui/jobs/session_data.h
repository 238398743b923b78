// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens data for a session.

#include <filesystem>
#include <utility>

#include "data/preprocess.h"
#include "data/task_settings.h"
#include "session/session.h"

namespace quantloupe::ui {

/// Returns the arguments of Session::setData(): evaluation and calibration data. An empty calibration path:
/// half of the data is used for calibration, and the second is null. Throws Error, Cancelled. On the
/// session's thread.
std::pair<DatasetPtr, DatasetPtr> openSessionData(const Session& session,
                                                  const std::filesystem::path& evaluation,
                                                  const std::filesystem::path& calibration,
                                                  const Preprocess& preprocess, const TaskSettings& task,
                                                  const CancelToken& cancel);

}  // namespace quantloupe::ui
