// SPDX-License-Identifier: Apache-2.0
#pragma once
// The model and data that the results of a session depend on, and the split of its samples for a search.

#include "session/session.h"

namespace quantloupe {

/// Hash of the model, of the evaluation and calibration samples, and of the arithmetic.
Version searchContext(Session& session);

/// The data of a session, split for a search: every third evaluation sample is held out, the others are
/// searched on.
struct SampleSplit {
    DatasetPtr all, search, heldOut, calibration;
};
/// Splits the samples of a session, in the order of the data. Batches that the network mixes are not torn
/// apart. Throws Error without data.
SampleSplit splitSamples(Session& session);

}  // namespace quantloupe
