// SPDX-License-Identifier: Apache-2.0
#include "common/program_version.h"

#include "commit.h"

namespace quantloupe {

std::string versionNumber() { return QUANTLOUPE_VERSION; }

std::string versionText() {
    const std::string commit = QUANTLOUPE_COMMIT;
    return commit.empty() ? versionNumber() : versionNumber() + " (commit " + commit + ")";
}

}  // namespace quantloupe
