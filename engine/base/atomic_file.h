// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole files in and out. Writing goes through a temporary file and a rename, so nothing is ever half written.

#include <filesystem>
#include <string>
#include <string_view>

namespace quantloupe {

/// Throws Error(Io) with the system's reason; the old file, if any, is then untouched.
void writeFileAtomically(const std::filesystem::path& path, std::string_view content);
/// Throws Error(Io) if the file is missing, a folder, or unreadable.
std::string readFile(const std::filesystem::path& path);

}  // namespace quantloupe
