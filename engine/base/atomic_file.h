// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writing files so that nothing is ever half written: the content goes to a temporary file, which takes the target's
// name only when it is complete. Reading is in base/input_file.h.

#include <filesystem>
#include <string_view>

#include "base/input_file.h"

namespace quantloupe {

/// A file that is being written and is not visible under its name yet. Several of them are how a group of files is
/// written as a whole: stage all, then commit all.
///
/// Where the file system supports it, the temporary file has no name until commit(), so a process that is killed leaves
/// nothing behind. Elsewhere it is NAME.PID-N.tmp next to the target; the next save of the same target removes it.
class StagedFile {
  public:
    /// A symbolic link stays one: the file that it leads to is written. A device or pipe is written directly.
    /// Throws Error(Io) if the target is a folder or its folder cannot be written to.
    explicit StagedFile(const std::filesystem::path& target);
    ~StagedFile();
    StagedFile(StagedFile&& other) noexcept;
    StagedFile& operator=(StagedFile&&) = delete;

    /// Appends. Throws Error(Io) with the system's reason.
    void write(std::string_view content);
    /// Replaces the target, which keeps its permissions. Throws Error(Io); the old file, if any, is then untouched.
    void commit();

    const std::filesystem::path& target() const { return m_target; }

  private:
    [[noreturn]] void refuse(int error) const;
    bool openUnnamed();
    void openNamed();
    std::filesystem::path linkUnderNewName() const;

    std::filesystem::path m_target;     ///< with links followed
    std::filesystem::path m_temporary;  ///< empty: the file has no name, or is the target itself
    int m_file = -1;
    bool m_direct = false;  ///< a device or a pipe
};

/// Throws Error(Io) with the system's reason; the old file, if any, is then untouched.
void writeFileAtomically(const std::filesystem::path& path, std::string_view content);

}  // namespace quantloupe
