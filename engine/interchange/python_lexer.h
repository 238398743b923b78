// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of Python source, with their lines.

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

/// Ends with a NewLine and an End. Throws Error naming the line of a bracket or text that is never closed, or of a bad escape.
std::vector<PythonToken> pythonTokens(std::string_view text);

}  // namespace quantloupe
