// SPDX-License-Identifier: Apache-2.0
#include "data/read_file.h"

#include <fstream>

#include "base/error.h"

namespace quantloupe {

std::vector<std::byte> readFile(const std::filesystem::path& path, std::uintmax_t most) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) fail(ErrorKind::Io, "'{}' does not exist", path.string());
    if (!std::filesystem::is_regular_file(path, error)) fail(ErrorKind::Io, "'{}' is no file", path.string());
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) fail(ErrorKind::Io, "'{}' cannot be read: {}", path.string(), error.message());
    if (size > most)
        failInput("'{}' has {} MiB, which is beyond the limit of {} MiB for such a file", path.string(),
                  size >> 20, most >> 20);
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(ErrorKind::Io, "'{}' cannot be opened: check that you may read it", path.string());
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (file.gcount() != static_cast<std::streamsize>(size))
        fail(ErrorKind::Io, "'{}' ended after {} of {} bytes", path.string(), file.gcount(), size);
    return bytes;
}

std::string withThousands(std::size_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

}  // namespace quantloupe
