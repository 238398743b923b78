// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file that a command writes is checked before the work, not after it.

#include <filesystem>

namespace quantloupe::cli {

/// Throws Error if the file could not be made: its folder is missing or may not be written, or it is a folder
/// itself.
void requireWritable(const std::filesystem::path& path);

}  // namespace quantloupe::cli
