// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which dialect a file is written in, by its ending and what stands in it.

#include <filesystem>
#include <string>
#include <string_view>

namespace quantloupe {

/// The name of a dialect that can be read, "quantloupe" for a configuration of ours, or nothing where nothing gives it away. A guess: what
/// reads the file says whether it is right.
std::string guessDialect(const std::filesystem::path& path, std::string_view text);
/// The same from the first megabyte of the file; nothing for one that cannot be read.
std::string guessDialect(const std::filesystem::path& path);

}  // namespace quantloupe
