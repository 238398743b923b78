// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line as data, for the manual page and the shell completions.

#include <CLI/CLI.hpp>

#include "command_line.h"
#include "common/program_description.h"
#include "options.h"

namespace quantloupe::cli {

/// `reader` provides the values of the command's options.
CommandDescription describe(const CLI::App& command, const OptionReader& reader);
/// The program without its commands.
ProgramDescription describe(const CLI::App& app, const Program& program);

}  // namespace quantloupe::cli
