// SPDX-License-Identifier: Apache-2.0
#pragma once
// Atomic file writes: the content goes to a temporary file, which is renamed to the target only when it is
// complete. base/input_file.h reads files.

#include <filesystem>
#include <string_view>

#include "base/input_file.h"

namespace quantloupe {

/// A file that is being written and is not visible under its name yet. To write a group of files as a whole,
/// stage all of them, then commit all.
///
/// If the file system supports it, the temporary file has no name until commit(), so a process that is killed
/// leaves no file behind. Elsewhere it is NAME.PID-N.tmp next to the target, and the next save of the same
/// target removes it.
class StagedFile {
  public:
    /// Symbolic links are followed and stay links. A device or pipe is written directly. Throws Error(Io) if
    /// the target is a folder or its folder is not writable.
    explicit StagedFile(const std::filesystem::path& target);
    ~StagedFile();
    StagedFile(StagedFile&& other) noexcept;
    StagedFile& operator=(StagedFile&&) = delete;

    /// Appends `content`. Throws Error(Io) with the system's reason.
    void write(std::string_view content);
    /// Replaces the target and keeps its permissions. Throws Error(Io); an existing file is unchanged in that
    /// case.
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

/// Throws Error(Io) with the system's reason; an existing file is unchanged in that case.
void writeFileAtomically(const std::filesystem::path& path, std::string_view content);

}  // namespace quantloupe
