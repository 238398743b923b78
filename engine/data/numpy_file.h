// SPDX-License-Identifier: Apache-2.0
#pragma once
// .npy and .npz files (numpy's format 1.0 to 3.0; C and Fortran order; big endian is swapped).

#include <filesystem>
#include <map>
#include <string>

#include "model/constant.h"

namespace quantloupe {

/// Integers of other widths are kept as they are; unicode and object arrays are refused with an Error. Errors
/// of all three name the file.
ConstantPtr loadNpy(const std::filesystem::path& path);
/// All numeric arrays of the archive by name; others are left out.
std::map<std::string, ConstantPtr> loadNpz(const std::filesystem::path& path);
/// Uncompressed, the same bytes for the same arrays; through a temporary file and a rename.
void saveNpz(const std::map<std::string, ConstantPtr>& arrays, const std::filesystem::path& path);

}  // namespace quantloupe
