// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens a session with the model and data that the options name.

#include <memory>

#include "options.h"
#include "session/session.h"

namespace quantloupe::cli {

struct OpenOptions {
    /// Without calibration data, do not split the evaluation data into halves.
    bool wholeData = false;
    /// Without any data, use random inputs.
    bool randomInputs = false;
};

struct OpenedSession {
    std::unique_ptr<Session> session;
    DatasetPtr data;         ///< --data, null if not given
    double loadSeconds = 0;  ///< of the model
    std::size_t calibrationSize =
        0;  ///< samples available for calibration, of which calibration.samples are used; 0: half of the data
};

/// Returns --preprocess (a file, or JSON), else the file next to the model, else the defaults.
Preprocess preprocessOf(const Options& options);
/// Loads the model and opens the data; prints their notices on stderr. Throws Error.
OpenedSession openSession(const Options& options, const OpenOptions& how = {});
/// Returns the metric of --metric-program, which must be given.
UserMetric ownMetric(const Options& options);
/// With --metric-program, evaluations of the session run it. Throws UsageError without data.
void useMetricProgram(Session& session, const Options& options);

}  // namespace quantloupe::cli
