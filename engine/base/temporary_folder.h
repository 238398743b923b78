// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace quantloupe {

/// A temporary folder, removed with its contents by the destructor. The constructor throws Error if it cannot
/// be created.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

}  // namespace quantloupe
