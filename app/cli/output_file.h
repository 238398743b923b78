// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that a command writes are checked before the work, not after it.

#include "base/input_paths.h"
#include "model/load_model.h"
#include "options.h"

namespace quantloupe::cli {

/// What the command reads, as far as the options name it.
InputPaths inputsOf(const Options& options);
/// And the files with the model's external data.
InputPaths inputsOf(const Options& options, const LoadedModel& model);

/// Throws Error if the file cannot be written (its folder is missing or read-only, or it is a folder itself) or is one
/// of the command's inputs.
void requireWritable(const std::filesystem::path& path, const Options& options);

/// For when the model is loaded: checks every output against its external data, then writes --save-config.
void startOutputs(const Options& options, const LoadedModel& model);

}  // namespace quantloupe::cli
