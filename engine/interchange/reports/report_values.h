// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layer table as text, for the reports.

#include <optional>
#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

inline constexpr const char* kGainColumn = "leave_one_out";
/// Column titles: layer, operator, state, reason, host, then numbers, then the comment.
const std::vector<std::string>& reportColumns();
/// One cell per column. An unknown number is empty, an infinite one is "inf".
std::vector<std::string> reportRow(const ExportSource& source, const LayerResult& layer);
std::string reportNumber(const std::optional<double>& value);

}  // namespace quantloupe
