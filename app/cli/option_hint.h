// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may have been meant by an option that a command does not have.

#include <CLI/CLI.hpp>
#include <string>

namespace quantloupe::cli {

/// ". Did you mean --cle-steps?", after a parse that met unknown options; empty where nothing is near. Knows
/// the options of other tools.
std::string optionHint(const CLI::App& command);

}  // namespace quantloupe::cli
