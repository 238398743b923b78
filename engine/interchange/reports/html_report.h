// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page that the export format "html" writes.

#include <string>

#include "interchange/file_format.h"

namespace quantloupe {

/// Returns a well-formed, self-contained page. `paper`: the layer table has only as many columns as fit on A4
/// landscape.
std::string htmlReport(const ExportSource& source, bool paper);

}  // namespace quantloupe
