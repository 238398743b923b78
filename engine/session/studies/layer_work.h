// SPDX-License-Identifier: Apache-2.0
#pragma once
// The work of each layer, from an evaluation of the session.

#include "cost/layer_work.h"
#include "session/session.h"

namespace quantloupe {

/// Returns one entry per node of the source graph. `evaluation` must be of this session. Shapes are those of
/// the samples, if the session has run the network.
NetworkWork networkWork(Session& session, const Evaluation& evaluation);

}  // namespace quantloupe
