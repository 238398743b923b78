// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks the output files of a command before the work starts.

#include "base/input_paths.h"
#include "model/load_model.h"
#include "options.h"

namespace quantloupe::cli {

/// Returns the input files that the options name.
InputPaths inputsOf(const Options& options);
/// Also includes the files with the model's external data.
InputPaths inputsOf(const Options& options, const LoadedModel& model);

/// Throws Error if the file cannot be written (its folder is missing or read-only, or the path is a folder)
/// or is one of the command's inputs.
void requireWritable(const std::filesystem::path& path, const Options& options);

/// Throws UsageError if two outputs of a command are the same file, Error if one cannot be written. Does not
/// check --output, whose meaning depends on the command.
void checkOutputs(const Options& options);

/// To be called when the model is loaded: checks every output against its external data, then writes
/// --save-config.
void startOutputs(const Options& options, const LoadedModel& model);

}  // namespace quantloupe::cli
