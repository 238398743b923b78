// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page that the dialect "html" writes.

#include <string>

#include "interchange/dialect.h"

namespace quantloupe {

/// Well-formed, and needs no other file. `paper`: the table of layers has as many columns as fit on A4 across.
std::string htmlReport(const ExportSource& source, bool paper);

}  // namespace quantloupe
