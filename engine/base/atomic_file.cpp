// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace quantloupe {

namespace fs = std::filesystem;

namespace {

void writeAll(const fs::path& path, std::string_view content) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail(ErrorKind::Io, "'{}' cannot be written: {}", path.string(), std::strerror(errno));
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    const int writeError = errno;
    if (std::fclose(file) != 0 || !written)
        fail(ErrorKind::Io, "'{}' cannot be written: {}", path.string(), std::strerror(written ? errno : writeError));
}

}  // namespace

void writeFileAtomically(const fs::path& target, std::string_view content) {
    std::error_code error;
    // A link stays a link: what it leads to is written.
    const fs::path path = fs::is_symlink(target, error) && fs::exists(target, error) ? fs::canonical(target) : target;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) fail(ErrorKind::Io, "'{}' is a folder; name a file", path.string());
    if (fs::exists(status) && !fs::is_regular_file(status)) return writeAll(path, content);  // a device or a pipe
    const fs::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
    const auto discard = [&] {
        std::error_code ignored;
        fs::remove(temporary, ignored);
    };
    try {
        writeAll(temporary, content);
    } catch (...) {
        discard();
        throw;
    }
    if (fs::exists(status)) fs::permissions(temporary, status.permissions(), error);
    fs::rename(temporary, path, error);
    if (error) {
        discard();
        fail(ErrorKind::Io, "'{}' cannot be written: {}", path.string(), error.message());
    }
}

std::string readFile(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) fail(ErrorKind::Io, "there is no file '{}'", path.string());
    if (fs::is_directory(path, error)) fail(ErrorKind::Io, "'{}' is a folder; a file is needed", path.string());
    std::ifstream stream(path, std::ios::binary);
    if (!stream) fail(ErrorKind::Io, "'{}' cannot be read: {}", path.string(), std::strerror(errno));
    std::string content;
    if (fs::is_regular_file(path, error)) {
        content.resize(fs::file_size(path));
        stream.read(content.data(), static_cast<std::streamsize>(content.size()));
        content.resize(static_cast<std::size_t>(stream.gcount()));
    } else {  // a pipe has no size
        content.assign(std::istreambuf_iterator<char>(stream), {});
    }
    if (stream.bad()) fail(ErrorKind::Io, "'{}' cannot be read to its end", path.string());
    return content;
}

}  // namespace quantloupe
