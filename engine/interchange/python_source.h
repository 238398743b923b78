// SPDX-License-Identifier: Apache-2.0
#pragma once
// Just enough Python to read settings out of a script: literals, names, calls and assignments. Nothing is run. What is more than
// that (operators, comprehensions, control flow) is passed over and reported, so that nothing is lost in silence.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quantloupe {

struct PythonValue {
    enum class Kind { None, Bool, Number, Text, List, Dict, Name, Call };
    Kind kind = Kind::None;
    int line = 0;
    bool truth = false;
    double number = 0;
    std::string text;  ///< of a Text, a dotted Name ("QuantType.QInt8"), or the Call's callee
    std::vector<PythonValue> items;  ///< of a List or tuple; arguments of a Call; values of a Dict
    std::vector<PythonValue> keys;   ///< of a Dict
    std::vector<std::pair<std::string, PythonValue>> named;  ///< keyword arguments of a Call

    const PythonValue* keyword(std::string_view name) const;  ///< null if there is none
    const PythonValue* entry(std::string_view key) const;     ///< of a Dict; null if there is none
    bool isTexts() const;                     ///< a list of texts
    std::vector<std::string> texts() const;   ///< of such a list
};
/// Returns "a list", "a string": for messages.
std::string_view kindName(PythonValue::Kind kind);

struct PythonStatement {
    int line = 0;
    std::string target;  ///< "a.b" of an assignment; empty for a call
    PythonValue value;
};

struct PythonSource {
    std::vector<PythonStatement> statements;
    std::vector<int> unread;  ///< lines of statements that are more than literals, names and calls
    /// The value with a plain name replaced by what was assigned to it last; the value itself otherwise.
    const PythonValue& resolved(const PythonValue& value) const;
    /// The last value under this name: a keyword argument of any call, or else an assignment, whatever its case. Null if there is none.
    const PythonValue* find(std::string_view name) const;
};

/// Throws Error with the line for a string or bracket that never ends.
PythonSource parsePython(std::string_view text);

}  // namespace quantloupe
