// SPDX-License-Identifier: Apache-2.0
#include "interchange/reports/csv.h"

#include "base/text.h"

namespace quantloupe {
namespace {

bool isNumber(std::string_view text) {
    return parsed<double>(text.substr(text.starts_with('+') ? 1 : 0)).has_value();
}

}  // namespace

std::string csvCell(std::string_view text) {
    const bool formula = !text.empty() &&
                         std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
                         !isNumber(text);
    std::string cell = formula ? "'" : "";
    cell += text;
    const bool spaced = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');  // readers may trim it
    if (!spaced && cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace quantloupe
