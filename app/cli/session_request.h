// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request of the session protocol, parsed strictly: unknown keys are errors.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/tune.h"

namespace quantloupe::cli {

struct SessionRequest {
    enum class Kind { Evaluate, Skip, Quantize, Set, Config, Undo, Redo, Layers, LeaveOneOut, Tune, Quit };
    Kind kind = Kind::Evaluate;
    std::vector<std::string> names;    ///< Skip, Quantize
    std::string key;                   ///< Set
    std::optional<std::string> value;  ///< Set, Config: the JSON of the value
    TuneOptions tune;                  ///< Tune
    bool table = false;                ///< the reply also contains the layer table
    bool cold = false;                 ///< clears all cached results first
};

/// Throws Error if the line is not a JSON object, for an unknown "do" (with similar names), for unknown,
/// duplicate or missing keys, and for wrong types. `ownMetric`: drops are in the unit of the user's metric.
SessionRequest parseSessionRequest(std::string_view line, bool ownMetric);

}  // namespace quantloupe::cli
