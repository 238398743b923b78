// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the results of a session depend on besides the configuration, and splitting its samples for a search.

#include "session/session.h"

namespace quantloupe {

/// Hash of the model and of the evaluation and calibration samples.
Version searchContext(Session& session);

/// The data of a session: two thirds of the evaluation samples for a search, every third one held out.
struct SampleSplit {
    DatasetPtr all, search, heldOut, calibration;
};
/// The samples are in the order of the data. Throws Error without data.
SampleSplit splitSamples(Session& session);

}  // namespace quantloupe
