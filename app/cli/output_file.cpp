// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <unistd.h>

#include "base/error.h"

namespace quantloupe::cli {
namespace fs = std::filesystem;

void requireWritable(const fs::path& path) {
    std::error_code ignored;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::Io, fmt::format("'{}' cannot be written: {}", path.string(), why));
    };
    if (fs::is_directory(path, ignored)) refuse("it is a folder");
    if (!fs::is_directory(folder, ignored)) refuse(fmt::format("there is no folder '{}'", folder.string()));
    if (::access(folder.c_str(), W_OK) != 0)
        refuse(fmt::format("no right to write in '{}'", folder.string()));
}

}  // namespace quantloupe::cli
