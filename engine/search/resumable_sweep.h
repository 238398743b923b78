// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leave-one-out that saves the measurement of each layer in a file, so that a sweep that was stopped can be
// continued.

#include <filesystem>

#include "session/studies/leave_one_out.h"

namespace quantloupe {

struct SweepFile {
    std::filesystem::path path;  ///< empty: none
    bool reuse = true;           ///< false: measures again what the file already contains
    std::string program{};       ///< version; measurements of another one are not used
    // Results.
    std::size_t reused = 0;              ///< measurements taken from the file
    std::vector<std::string> notices{};  ///< why those of the file are not used or could not be saved
};

/// Like leaveOneOut(). The file is saved every few seconds and when the sweep ends, also by an exception; if
/// it cannot be written, the sweep continues without it. Configurations whose layers are not independent
/// (layersAreIndependent()) are measured again.
LayerSweep resumableLeaveOneOut(Session& session, const QuantizationConfig& config, SweepFile& file,
                                SweepOptions options = {}, const CancelToken& cancel = {});

}  // namespace quantloupe
