// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace quantloupe {

TemporaryFolder::TemporaryFolder() {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    std::string name = (parent / "quantloupe-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        fail(ErrorKind::Io, "cannot create a temporary folder in '{}': {}", parent.string(),
             std::strerror(errno));
    m_path = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

}  // namespace quantloupe
