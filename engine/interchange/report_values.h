// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layer table as text, for the reports.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

/// layer, operator, state, reason, host, then numbers, then the comment.
const std::vector<std::string>& reportColumns();
/// One cell a column; a number that is not known is empty, an infinite one "inf".
std::vector<std::string> reportRow(const ExportSource& source, const LayerResult& layer);
std::string reportNumber(const std::optional<double>& value);

/// For text and attributes of XML and HTML; control characters are left out.
std::string escapedXml(std::string_view text);

}  // namespace quantloupe
