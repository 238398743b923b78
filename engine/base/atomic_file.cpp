// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/input_paths.h"

namespace quantloupe {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kNewFile = 0666;            // minus the umask
constexpr std::size_t kLongestPrefix = 200;  // of a temporary name; file systems allow 255 bytes
constexpr std::string_view kEnding = ".tmp";

fs::path folderOf(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::string temporaryPrefix(const fs::path& target) {
    return target.filename().string().substr(0, kLongestPrefix) + ".";
}

fs::path newTemporaryName(const fs::path& target) {
    static std::atomic<unsigned> counter = 0;
    return folderOf(target) /
           fmt::format("{}{}-{}{}", temporaryPrefix(target), ::getpid(), ++counter, kEnding);
}

/// Whether `name` is the name of a temporary file of the target: NAME.PID-N.tmp, or NAME.PID.tmp from earlier
/// versions.
bool isTemporaryName(const std::string& name, const std::string& prefix) {
    if (name.size() <= prefix.size() + kEnding.size() || !name.starts_with(prefix) ||
        !name.ends_with(kEnding))
        return false;
    const std::string middle = name.substr(prefix.size(), name.size() - prefix.size() - kEnding.size());
    return middle.find_first_not_of("0123456789-") == std::string::npos && middle.front() != '-' &&
           middle.back() != '-';
}

/// The writer of a temporary file keeps a lock on it until it finishes or dies.
void removeIfAbandoned(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        ::unlink(file.c_str());
    ::close(descriptor);
}

void removeAbandoned(const fs::path& target) {
    const std::string prefix = temporaryPrefix(target);
    std::error_code error;
    for (fs::directory_iterator entry(folderOf(target), error), end; !error && entry != end;
         entry.increment(error))
        if (isTemporaryName(entry->path().filename().string(), prefix)) removeIfAbandoned(entry->path());
}

/// The path by which the kernel finds an open file.
std::string descriptorPath(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

}  // namespace

void StagedFile::refuse(int error) const {
    fail(ErrorKind::Io, "'{}' cannot be written: {}", m_target.string(), std::strerror(error));
}

StagedFile::StagedFile(const fs::path& target) {
    std::error_code error;
    m_target = fs::is_symlink(target, error) ? placeOf(target) : target;
    const fs::file_status status = fs::status(m_target, error);
    if (fs::is_directory(status))
        fail(ErrorKind::Io, "'{}' is a folder; choose a file name", m_target.string());
    m_direct = fs::exists(status) && !fs::is_regular_file(status);
    if (m_direct) {
        m_file = ::open(m_target.c_str(), O_WRONLY | O_CLOEXEC);
        if (m_file < 0) refuse(errno);
        return;
    }
    removeAbandoned(m_target);
    if (!openUnnamed()) openNamed();
    if (fs::exists(status)) ::fchmod(m_file, static_cast<mode_t>(status.permissions()) & 07777);
}

/// Requires /proc, without which the file could not be given a name later.
bool StagedFile::openUnnamed() {
#ifdef O_TMPFILE
    m_file = ::open(folderOf(m_target).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kNewFile);
    if (m_file < 0) return false;
    if (::access(descriptorPath(m_file).c_str(), F_OK) == 0 && ::flock(m_file, LOCK_EX | LOCK_NB) == 0)
        return true;
    ::close(std::exchange(m_file, -1));
#endif
    return false;
}

void StagedFile::openNamed() {
    for (int attempt = 0; attempt < 100; ++attempt) {
        m_temporary = newTemporaryName(m_target);
        m_file = ::open(m_temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kNewFile);
        if (m_file < 0 && errno == EEXIST) continue;
        if (m_file < 0) {
            m_temporary.clear();
            refuse(errno);
        }
        ::flock(m_file, LOCK_EX | LOCK_NB);
        // Another process may have considered the file abandoned before it was locked.
        struct stat status {};
        if (::fstat(m_file, &status) == 0 && status.st_nlink > 0) return;
        ::close(std::exchange(m_file, -1));
    }
    m_temporary.clear();
    refuse(EEXIST);
}

StagedFile::~StagedFile() {
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
    if (m_file >= 0) ::close(m_file);
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : m_target(std::move(other.m_target)),
      m_temporary(std::exchange(other.m_temporary, fs::path())),
      m_file(std::exchange(other.m_file, -1)),
      m_direct(other.m_direct) {}

void StagedFile::write(std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(m_file, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse(errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
}

/// Gives the unnamed file a temporary name, because only a rename can replace an existing file.
fs::path StagedFile::linkUnderNewName() const {
    for (int attempt = 0; attempt < 100; ++attempt) {
        fs::path name = newTemporaryName(m_target);
        if (::linkat(AT_FDCWD, descriptorPath(m_file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
            0)
            return name;
        if (errno != EEXIST) break;
    }
    refuse(errno);
}

void StagedFile::commit() {
    // On a network file system, write errors are reported when a descriptor of the file is closed.
    const int last = ::dup(m_file);
    if (last < 0 || ::close(last) != 0) refuse(errno);
    if (m_direct) return;
    if (m_temporary.empty()) {
        if (::linkat(AT_FDCWD, descriptorPath(m_file).c_str(), AT_FDCWD, m_target.c_str(),
                     AT_SYMLINK_FOLLOW) == 0)
            return;
        m_temporary = linkUnderNewName();
    }
    if (::rename(m_temporary.c_str(), m_target.c_str()) != 0) refuse(errno);
    m_temporary.clear();
}

void writeFileAtomically(const fs::path& path, std::string_view content) {
    StagedFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace quantloupe
