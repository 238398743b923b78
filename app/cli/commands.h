// SPDX-License-Identifier: Apache-2.0
#pragma once
// One function per command. Each prints its result to stdout and throws Error or UsageError if it fails.

#include "options.h"

namespace quantloupe::cli {

void runInspect(const Options& options);
void runRun(const Options& options);
void runAnalyze(const Options& options);
void runSetInputs(const Options& options);
void runTransform(const Options& options);
void runQuantize(const Options& options);
void runLeaveOneOut(const Options& options);
void runExport(const Options& options);
void runImport(const Options& options);
void runVerify(const Options& options);
void runProfile(const Options& options);
void runRender(const Options& options);
void runSession(const Options& options);
/// Return the exit code: 3 if the target was not reached.
int runCheck(const Options& options);
int runTune(const Options& options);

}  // namespace quantloupe::cli
