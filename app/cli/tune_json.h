// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of tuning as JSON, for tune and the session protocol. docs/command_line.md describes the keys.

#include "json_output.h"
#include "search/tune.h"

namespace quantloupe::cli {

OrderedJson toJson(const TuneResult& result);

}  // namespace quantloupe::cli
