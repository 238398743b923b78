// SPDX-License-Identifier: Apache-2.0
#pragma once
// Suggestions for an unknown option.

#include <CLI/CLI.hpp>
#include <string>

namespace quantloupe::cli {

/// Returns ". For --cle-step, did you mean --cle-steps?" after a parse that found unknown options; empty if
/// no known option is similar. Also recognizes the options of other tools.
std::string optionHint(const CLI::App& command);

}  // namespace quantloupe::cli
