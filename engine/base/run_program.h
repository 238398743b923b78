// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs another program without a shell: arguments are passed unchanged, nothing is expanded.

#include <filesystem>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace quantloupe {

struct ProgramRun {
    std::filesystem::path program;  ///< not searched for in PATH; relative to the current folder
    std::vector<std::string> arguments;
    double timeoutSeconds = 60;
};

struct ProgramOutput {
    std::string out, err;  ///< at most one megabyte each
    int exitCode = 0;      ///< 0 to 255; -1 if the program was ended by a signal
    int signal = 0;
};

/// Waits until the program ends. Its standard input is empty, it inherits the environment, and it inherits no
/// other open files. Its whole process group is killed at the end, on a timeout, after more than a megabyte
/// of output, and on cancel. Throws Error(BadInput) naming the program if it is missing, a folder, not
/// executable, or too slow; Error(Io) if a system call fails; Cancelled. A non-zero exit code is not an error
/// here.
ProgramOutput runProgram(const ProgramRun& run, const CancelToken& cancel);

}  // namespace quantloupe
