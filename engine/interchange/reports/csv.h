// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells of comma-separated values.

#include <string>
#include <string_view>

namespace quantloupe {

/// Returns the text as a cell, quoted as RFC 4180 requires. A text that a spreadsheet would interpret as a
/// formula (it begins with =, +, -, @, a tab or a carriage return, and is not a number) gets an apostrophe in
/// front, as OWASP recommends.
std::string csvCell(std::string_view text);

}  // namespace quantloupe
