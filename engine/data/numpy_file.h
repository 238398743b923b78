// SPDX-License-Identifier: Apache-2.0
#pragma once
// .npy and .npz files (numpy's format 1.0 to 3.0; C and Fortran order; big endian is swapped).

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/constant.h"

namespace quantloupe {

/// Loads a .npy file. Integers keep their width. Throws Error for Unicode and object arrays. Errors of all
/// three functions name the file.
ConstantPtr loadNpy(const std::filesystem::path& path);
/// Loads all numeric arrays of the archive by name. The names of others, for example of text, are added to
/// `others` if it is not null.
std::map<std::string, ConstantPtr> loadNpz(const std::filesystem::path& path,
                                           std::vector<std::string>* others = nullptr);
/// Writes an uncompressed archive, with identical bytes for identical arrays, through a temporary file and a
/// rename.
void saveNpz(const std::map<std::string, ConstantPtr>& arrays, const std::filesystem::path& path);

}  // namespace quantloupe
