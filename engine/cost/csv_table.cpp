// SPDX-License-Identifier: Apache-2.0
#include "cost/csv_table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace quantloupe {
namespace {

/// Reads one record, which may span several lines if line breaks are quoted.
std::vector<std::string> readRecord(std::string_view& text, std::size_t& line) {
    const std::size_t start = line;
    std::vector<std::string> cells;
    std::string cell;
    bool quoted = false, wasQuoted = false;
    std::size_t i = 0;
    const auto finish = [&] {
        cells.push_back(wasQuoted ? cell : std::string(trimmed(cell)));
        // An apostrophe that keeps spreadsheets from reading the text as a formula is not part of it.
        std::string& last = cells.back();
        if (last.size() > 1 && last[0] == '\'' &&
            std::string_view("=+-@\t\r").find(last[1]) != std::string_view::npos)
            last.erase(0, 1);
        cell.clear();
        wasQuoted = false;
    };
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"') {
                line += c == '\n';
                cell += c;
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                cell += text[++i];
            } else {
                quoted = false;
            }
        } else if (c == '"' && trimmed(cell).empty()) {
            quoted = wasQuoted = true;
            cell.clear();
        } else if (c == ',') {
            finish();
        } else if (c == '\n') {
            break;
        } else if (!wasQuoted || (c != ' ' && c != '\t' && c != '\r')) {
            cell += c;
        }
    }
    if (quoted) failInput("line {}: a quoted cell has no end", start);
    finish();
    text.remove_prefix(std::min(text.size(), i + 1));
    ++line;
    return cells;
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

std::optional<std::size_t> CsvTable::columnOf(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
        if (const auto found = column(name)) return found;
    return std::nullopt;
}

CsvTable parseCsv(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    CsvTable table;
    for (std::size_t line = 1; !text.empty();) {
        const std::size_t here = line;
        std::vector<std::string> cells = readRecord(text, line);
        if ((cells.size() == 1 && cells[0].empty()) || cells[0].starts_with('#')) continue;
        if (table.header.empty()) {
            for (std::string& name : cells) name = lowerCase(name);
            table.header = std::move(cells);
            continue;
        }
        for (std::size_t c = table.header.size(); c < cells.size(); ++c)
            cells[table.header.size() - 1] += "," + cells[c];
        cells.resize(table.header.size());
        table.rows.push_back(std::move(cells));
        table.lines.push_back(here);
    }
    if (table.header.empty()) failInput("the file is empty");
    return table;
}

double nonnegativeCell(const CsvTable& table, std::size_t row, std::size_t column) {
    const std::string& cell = table.rows[row][column];
    const auto value = parsed<double>(cell);
    if (!value || !std::isfinite(*value) || *value < 0)
        failInput("line {}: column '{}' must be a number that is at least 0, not '{}'", table.lines[row],
                  table.header[column], cell);
    return *value;
}

}  // namespace quantloupe
