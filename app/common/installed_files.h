// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that are installed with the programs. They are found relative to the running program, so that an
// installation can be moved. The build folder has links to the same places.

#include <filesystem>

namespace quantloupe {

/// ../share/quantloupe relative to the program's folder: demo, translations.
std::filesystem::path sharedFiles();
/// ../share/doc/quantloupe relative to the program's folder: README, docs.
std::filesystem::path documentation();

/// Tells libraries where their files are in a package that has its own copies of all libraries (the wheel and
/// the archive); does nothing in other installations. Call it first in main(): it sets environment variables.
void useBundledFiles();

}  // namespace quantloupe
