// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses just enough Python to read settings from a script: literals, names, calls, assignments, and
// additions to lists and dictionaries (append, extend, update, +=, x["key"] = value). Nothing is executed.
// Anything else (operators, comprehensions, control flow) is skipped and reported, so that nothing is lost
// silently.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quantloupe {

struct PythonArgument;

struct PythonValue {
    enum class Kind { None, Bool, Number, Text, List, Dict, Name, Call };
    Kind kind = Kind::None;
    int line = 0;
    bool truth = false;
    double number = 0;
    std::string text;                ///< of a Text; a dotted Name ("QuantType.QInt8"); the callee of a Call
    std::vector<PythonValue> items;  ///< of a List or tuple; arguments of a Call; values of a Dict
    std::vector<PythonValue> keys;   ///< of a Dict
    std::vector<PythonArgument> named;  ///< keyword arguments of a Call

    const PythonValue* keyword(std::string_view name) const;  ///< null if there is none
    const PythonValue* entry(std::string_view key) const;     ///< of a Dict; null if there is none
    bool isTexts() const;                                     ///< a list of strings
    std::vector<std::string> texts() const;                   ///< the strings of such a list
};
/// Not a std::pair, which may not contain a type that is still being defined.
struct PythonArgument {
    std::string key;
    PythonValue value;
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
    std::vector<int> unread;  ///< lines of skipped statements
    /// Lines of those that change a list or dictionary which an earlier statement assigned to a name.
    std::vector<std::pair<int, std::string>> unreadChanges;
    /// A message for each of unreadChanges.
    std::vector<std::string> changeNotices() const;
    /// Returns the value last assigned to the name if `value` is a plain name, otherwise the value itself.
    const PythonValue& resolved(const PythonValue& value) const;
    /// Returns the last value with this name: a keyword argument of any call or, ignoring case, an
    /// assignment. Null if there is none.
    const PythonValue* find(std::string_view name) const;
};

/// Throws Error with the line of an unclosed string or bracket.
PythonSource parsePython(std::string_view text);

}  // namespace quantloupe
