// SPDX-License-Identifier: Apache-2.0
#pragma once
// Another program, run without a shell: its words go to it as they are, nothing is expanded.

#include <filesystem>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace quantloupe {

struct ProgramRun {
    std::filesystem::path program;  ///< not searched for on the PATH; a relative path is taken from the current folder
    std::vector<std::string> arguments;
    double timeoutSeconds = 60;
};

struct ProgramOutput {
    std::string out, err;  ///< the first megabyte of each
    int exitCode = 0;      ///< 0 to 255; -1: ended by a signal
    int signal = 0;
};

/// Waits for the end. Standard input is empty, the environment is ours, other files of ours are closed to it. Its whole
/// process group is killed at the end, on a timeout, after more than a megabyte of output, and on cancel.
/// Throws Error(BadInput) naming the program if it is missing, a folder, not executable, or too slow; Error(Io) where
/// the system refuses; Cancelled. A non-zero exit is not an error here.
ProgramOutput runProgram(const ProgramRun& run, const CancelToken& cancel);

}  // namespace quantloupe
