// SPDX-License-Identifier: Apache-2.0
#pragma once
// The check that keeps an output from overwriting an input.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace quantloupe {

/// Returns whether two paths refer to the same file, which need not exist yet. Takes relative paths, symbolic
/// links and hard links into account.
bool sameFile(const std::filesystem::path& a, const std::filesystem::path& b);

/// Returns the absolute path without links, even for a link to a file that does not exist.
std::filesystem::path placeOf(std::filesystem::path path);

/// The files and folders that a task reads, each with a description such as "the model".
class InputPaths {
  public:
    /// Ignores an empty path. A folder stands for the samples in it.
    void add(std::string what, std::filesystem::path path);
    /// Throws Error(BadInput) if writing `output` would overwrite one of the inputs, however it is named: by
    /// a relative path, through a symbolic link, or as another name of the same file (a hard link). Ignores
    /// an empty path.
    void checkOutput(const std::filesystem::path& output) const;

  private:
    std::vector<std::pair<std::string, std::filesystem::path>> m_inputs;
};

}  // namespace quantloupe
