// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluation samples of a session, for callers that run them elsewhere.

#include "session/session.h"

namespace quantloupe {

/// Returns the samples in the order of Session::outputs(); null without data. Call it from the session's
/// thread; the returned dataset may be used from any thread.
DatasetPtr evaluationData(Session& session);

}  // namespace quantloupe
