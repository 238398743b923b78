// SPDX-License-Identifier: Apache-2.0
#pragma once
// A leave-one-out sweep as JSON, for the session protocol and Python. docs/command_line.md describes the
// keys.

#include "json_output.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe::cli {

OrderedJson toJson(const LayerSweep& sweep, const Graph& graph);

}  // namespace quantloupe::cli
