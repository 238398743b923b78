// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens the data of a session.

#include <filesystem>
#include <utility>

#include "data/preprocess.h"
#include "data/task_settings.h"
#include "session/session.h"

namespace quantloupe::ui {

/// Opens the data, sets it and returns it: evaluation and calibration data. An empty calibration path: half
/// of the data is used for calibration, and the second is null. Throws Error. On the session's thread.
std::pair<DatasetPtr, DatasetPtr> setSessionData(Session& session, const std::filesystem::path& evaluation,
                                                 const std::filesystem::path& calibration,
                                                 const Preprocess& preprocess, const TaskSettings& task);

}  // namespace quantloupe::ui
