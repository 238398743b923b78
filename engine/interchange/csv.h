// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells of comma-separated values.

#include <string>
#include <string_view>

namespace quantloupe {

/// The text as a cell: quoted where RFC 4180 asks for it. A text that a spreadsheet would take for a formula (it begins with =, +, -,
/// @, a tab or a carriage return, and is not a number) gets an apostrophe before it, as OWASP advises.
std::string csvCell(std::string_view text);

}  // namespace quantloupe
