// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines the work of each layer from an evaluation.

#include "cost/layer_work.h"
#include "session/session.h"

namespace quantloupe {

/// Returns one entry per node of the source graph. `evaluation` must be of this session. Uses the shapes of
/// the samples if the session has run the network.
NetworkWork networkWork(Session& session, const Evaluation& evaluation);

}  // namespace quantloupe
