// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "interchange/text/python_source.h"

namespace quantloupe {

std::string_view kindName(PythonValue::Kind kind) {
    switch (kind) {
        case PythonValue::Kind::None:
            return "None";
        case PythonValue::Kind::Bool:
            return "True or False";
        case PythonValue::Kind::Number:
            return "a number";
        case PythonValue::Kind::Text:
            return "a string";
        case PythonValue::Kind::List:
            return "a list";
        case PythonValue::Kind::Dict:
            return "a dictionary";
        case PythonValue::Kind::Name:
            return "a name";
        case PythonValue::Kind::Call:
            return "a call";
    }
    return "a value";
}

const PythonValue* PythonValue::keyword(std::string_view name) const {
    for (const auto& [key, value] : named)
        if (key == name) return &value;
    return nullptr;
}

const PythonValue* PythonValue::entry(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i].kind == Kind::Text && keys[i].text == key) return &items[i];
    return nullptr;
}

bool PythonValue::isTexts() const {
    return kind == Kind::List && std::all_of(items.begin(), items.end(),
                                             [](const PythonValue& item) { return item.kind == Kind::Text; });
}

std::vector<std::string> PythonValue::texts() const {
    std::vector<std::string> list;
    for (const PythonValue& item : items) list.push_back(item.text);
    return list;
}

}  // namespace quantloupe
