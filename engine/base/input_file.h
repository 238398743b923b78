// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only way in which files are read. Only regular files are accepted: a device or a pipe has no size, may
// never end, and may block. Not meant for files that change while they are read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace quantloupe {

/// A file open for reading. Throws Error(Io) naming the file if it is missing, not a regular file, or
/// unreadable.
class InputFile {
  public:
    explicit InputFile(const std::filesystem::path& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    std::uint64_t size() const { return m_size; }  ///< at the time of opening
    int descriptor() const { return m_file; }      ///< stays owned by this object
    /// Throws Error(Io) if the file ends before offset + count.
    void read(void* target, std::size_t count, std::uint64_t offset) const;

  private:
    std::filesystem::path m_path;
    int m_file = -1;
    std::uint64_t m_size = 0;
};

/// Throws Error naming the path unless it is a regular file.
void requireRegularFile(const std::filesystem::path& path);

/// The largest file that is read as a whole if no smaller limit is given: the maximum size of one ONNX file.
inline constexpr std::uint64_t kMaxFileBytes = 0x7fffffff;

/// Returns the whole file. Throws Error naming it if it cannot be read or is larger than `most` bytes.
std::string readFile(const std::filesystem::path& path, std::uint64_t most = kMaxFileBytes);

}  // namespace quantloupe
