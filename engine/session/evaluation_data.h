// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluation samples of a session, for callers that run them elsewhere.

#include "runtime/program/sample_batches.h"
#include "session/session.h"

namespace quantloupe {

/// Returns the samples in the order of Session::outputs(); null without data. Call it from the session's
/// thread; the returned dataset may be used from any thread.
DatasetPtr evaluationData(Session& session);

/// Returns hasBinaryLabels() of the data that the samples were chosen from. Call it from the session's
/// thread.
bool hasBinaryLabels(Session& session);

/// Returns the samples as evaluations run them: in batches, the rough samples first. Valid until the session
/// gets other data. Throws Error without data. Call it from the session's thread; the returned batches may be
/// read from any thread.
const SampleBatches& evaluationBatches(Session& session);

}  // namespace quantloupe
