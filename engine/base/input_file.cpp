// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace quantloupe {

namespace fs = std::filesystem;

namespace {

template <typename... Args>
[[noreturn]] void failNamingFile(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
    throw Error(kind, fmt::format(text, std::forward<Args>(args)...)).setNamesFile();
}

[[noreturn]] void refuseToRead(const fs::path& path, int error) {
    if (error == ENOENT || error == ENOTDIR)
        failNamingFile(ErrorKind::Io, "there is no file '{}'", path.string());
    failNamingFile(ErrorKind::Io, "'{}' cannot be read: {}", path.string(), std::strerror(error));
}

void requireRegular(const fs::path& path, const struct stat& status) {
    if (S_ISREG(status.st_mode)) return;
    if (S_ISDIR(status.st_mode))
        failNamingFile(ErrorKind::Io, "'{}' is a folder; a file is needed", path.string());
    failNamingFile(ErrorKind::Io,
                   "'{}' is a {}; only regular files are read: save its content to a file first",
                   path.string(),
                   S_ISFIFO(status.st_mode)   ? "pipe"
                   : S_ISSOCK(status.st_mode) ? "socket"
                                              : "device");
}

}  // namespace

void requireRegularFile(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) refuseToRead(path, errno);
    requireRegular(path, status);
}

InputFile::InputFile(const fs::path& path) : m_path(path) {
    requireRegularFile(path);  // before it is opened: opening some devices has effects
    m_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (m_file < 0) refuseToRead(path, errno);
    struct stat status {};
    try {
        if (::fstat(m_file, &status) != 0) refuseToRead(path, errno);
        requireRegular(path, status);
    } catch (...) {
        ::close(m_file);
        throw;
    }
    m_size = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(m_file); }

void InputFile::read(void* target, std::size_t count, std::uint64_t offset) const {
    auto* place = static_cast<char*>(target);
    while (count > 0) {
        const ssize_t got =
            ::pread(m_file, place, std::min<std::size_t>(count, 1u << 30), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuseToRead(m_path, errno);
        if (got == 0)
            failNamingFile(ErrorKind::Io, "'{}' ended before its {} bytes were read", m_path.string(),
                           m_size);
        place += got;
        offset += static_cast<std::uint64_t>(got);
        count -= static_cast<std::size_t>(got);
    }
}

std::string readFile(const fs::path& path, std::uint64_t most) {
    const InputFile file(path);
    if (file.size() > most)
        failNamingFile(ErrorKind::BadInput,
                       "'{}' is {:.1f} MiB large, and the limit for such a file is {} MiB", path.string(),
                       static_cast<double>(file.size()) / (1 << 20), most >> 20);
    std::string content(static_cast<std::size_t>(file.size()), '\0');
    file.read(content.data(), content.size(), 0);
    return content;
}

}  // namespace quantloupe
