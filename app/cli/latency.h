// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the measured times of the option --profile.

#include "cost/latency_table.h"
#include "options.h"
#include "session/session.h"

namespace quantloupe::cli {

/// Reads the profiles and prints on stderr how many layers they measure and which names match none. Null
/// without profiles. Evaluates the configuration on the rough samples. Throws Error.
std::shared_ptr<const LatencyTable> latencyOf(Session& session, const Options& options);

}  // namespace quantloupe::cli
