// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens of Python source, with their line numbers.

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

enum class PythonTokenKind { Name, Number, Text, FormatText, Mark, NewLine, End };

struct PythonToken {
    PythonTokenKind kind = PythonTokenKind::End;
    std::string text;
    int line = 1;
};

/// The list ends with a NewLine and an End. Throws Error with the line of an unclosed bracket or string, or
/// of a bad escape.
std::vector<PythonToken> pythonTokens(std::string_view text);

}  // namespace quantloupe
