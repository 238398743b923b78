// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the options to a session with its model and data.

#include <memory>

#include "options.h"
#include "session/session.h"

namespace quantloupe::cli {

struct OpenOptions {
    /// Without calibration data the evaluation data is not halved: nothing is calibrated.
    bool wholeData = false;
    /// Without any data random inputs stand in for it.
    bool randomInputs = false;
};

struct OpenedSession {
    std::unique_ptr<Session> session;
    DatasetPtr data;         ///< as given, null without --data
    double loadSeconds = 0;  ///< of the model
    std::size_t calibrationSize =
        0;  ///< samples that can calibrate, of which calibration.samples do; 0: half of the data does
};

/// What was given, what lies beside the model, or nothing special.
Preprocess preprocessOf(const Options& options);
/// Loads the model and opens the data; tells the model's and the data's notices on stderr. Throws Error.
OpenedSession openSession(const Options& options, const OpenOptions& how = {});

}  // namespace quantloupe::cli
