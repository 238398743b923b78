// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of the programs.

#include <string>

namespace quantloupe {

/// "0.1.0"
std::string versionNumber();
/// "0.1.0 (commit 1a2b3c4d5e6f)"; "-dirty" follows the commit if the sources had changes that were not
/// committed. Only "0.1.0" if the commit is unknown.
std::string versionText();

}  // namespace quantloupe
