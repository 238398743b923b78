// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads comma-separated values (CSV).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

struct CsvTable {
    std::vector<std::string> header;             ///< in lower case
    std::vector<std::vector<std::string>> rows;  ///< each with as many cells as the header
    std::vector<std::size_t> lines;              ///< line number of each row

    std::optional<std::size_t> column(std::string_view name) const;
    std::optional<std::size_t> columnOf(std::initializer_list<std::string_view> names) const;
};

/// Reads RFC 4180 with cells trimmed. Skips empty lines and lines that begin with #. A row may have fewer
/// cells than the header (the rest is empty), and more only in its last column, which then contains the
/// commas. Throws Error with the line number for an unterminated quote or an empty file.
CsvTable parseCsv(std::string_view text);
/// Returns the number in a cell. Throws Error naming the line and the column unless it is finite and at least
/// 0.
double nonnegativeCell(const CsvTable& table, std::size_t row, std::size_t column);

}  // namespace quantloupe
