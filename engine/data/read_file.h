// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small helpers of the data folder: whole files into memory, and numbers for people.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace quantloupe {

/// The bytes of a regular file. Throws Error naming it if it cannot be read or is larger than `most` bytes.
std::vector<std::byte> readFile(const std::filesystem::path& path, std::uintmax_t most);

/// "12,345", whatever the locale.
std::string withThousands(std::size_t number);

}  // namespace quantloupe
