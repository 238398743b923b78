// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs with commands: quantloupe-cli, and quantloupe-mpi, which runs some of the same commands on
// several machines. The table of commands is in command_line.cpp. Exit codes: 0 success, 1 failure (explained
// on stderr), 2 wrong usage, 3 tune or check did not reach the target.

#include <functional>
#include <string>
#include <vector>

#include "options.h"

namespace quantloupe::cli {

struct Program {
    std::string name;         ///< "quantloupe-cli"
    std::string description;  ///< one sentence
    std::string summary;      ///< for the manual page: lower case, without a full stop
    std::vector<std::pair<std::string, std::string>> examples;  ///< what for, command line
    std::string seeAlso;
    std::vector<std::string> commands{};  ///< empty: all
    using Read = std::function<Options()>;
    using Run = std::function<int(const Options&)>;
    /// Runs a command with the options that it reads. Empty: just that.
    std::function<int(const Read& read, const Run& run)> execute{};
};

/// Runs the command that the arguments name. Returns the exit code.
int runCommandLine(int argc, char** argv, const Program& program);

}  // namespace quantloupe::cli
