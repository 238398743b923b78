// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the built quantloupe-cli as users and scripts do.

#include "support/run_program.h"

namespace quantloupe::test {

/// Runs in `folder`, or else in the current folder, with additional variables ("NAME=value").
Outcome runCli(const QStringList& arguments, const QString& folder = {}, const QStringList& variables = {});

/// Checks that the command failed with this exit code and a message that mentions this, and printed nothing
/// on stdout.
void verifyFailure(const Outcome& outcome, int code, const QString& mentions);

/// Returns the path of a file or folder of the demo.
QString demoPath(const char* name);
QString demoModel();

/// Splits a command line into arguments; MODEL, VAL, CALIBRATION and CONFIG stand for the demo's files.
QStringList demoCommand(const char* words);

}  // namespace quantloupe::test
