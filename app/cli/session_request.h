// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request of the session protocol, read strictly: what would not be obeyed is refused by name.

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
    bool table = false;                ///< the reply has the per-layer table, too
    bool cold = false;                 ///< every result is forgotten first
};

/// Throws Error for what is no JSON object, an unknown "do" (with near names), unknown, doubled or missing keys, and
/// wrong types.
SessionRequest parseSessionRequest(std::string_view line);

}  // namespace quantloupe::cli
