// SPDX-License-Identifier: Apache-2.0
#include "interchange/text/python_source.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "interchange/text/python_lexer.h"

namespace quantloupe {
namespace {

using Token = PythonToken;
using TokenKind = PythonTokenKind;

/// Thrown for anything that the parser cannot read; the statement is skipped.
struct Unreadable {};

class Parser {
  public:
    explicit Parser(std::vector<Token> tokens) : m_tokens(std::move(tokens)) {}

    PythonSource run() {
        PythonSource source;
        while (m_tokens[m_at].kind != TokenKind::End) {
            if (m_tokens[m_at].kind == TokenKind::NewLine) {
                ++m_at;
                continue;
            }
            const std::size_t start = m_at;
            try {
                statement(source);
                expectEnd();
                ++m_at;
            } catch (const Unreadable&) {
                m_at = start;
                m_depth = 0;
                if (m_tokens[start].kind == TokenKind::Name && m_tokens[start + 1].kind == TokenKind::Mark &&
                    std::string_view(".[+-*|").find(m_tokens[start + 1].text) != std::string_view::npos &&
                    assignedCollection(source, m_tokens[start].text) != nullptr)
                    source.unreadChanges.emplace_back(m_tokens[start].line, m_tokens[start].text);
                if (!isHarmless(m_tokens[start].text)) source.unread.push_back(m_tokens[start].line);
                while (m_tokens[m_at].kind != TokenKind::NewLine) ++m_at;
            }
        }
        return source;
    }

  private:
    static bool isHarmless(const std::string& word) {
        static constexpr std::string_view kWords[] = {"import", "from",   "pass", "def",
                                                      "class",  "return", "if",   "else"};
        return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
    }

    bool isMark(std::string_view text) const {
        return m_tokens[m_at].kind == TokenKind::Mark && m_tokens[m_at].text == text;
    }
    bool take(std::string_view text) {
        if (!isMark(text)) return false;
        ++m_at;
        return true;
    }
    void expect(std::string_view text) {
        if (!take(text)) throw Unreadable{};
    }

    using Kind = PythonValue::Kind;

    /// The list or dictionary that the name refers to, perhaps by another name; null if there is none.
    static PythonValue* assignedCollection(PythonSource& source, std::string name) {
        for (int steps = 0; steps < 10; ++steps) {
            PythonValue* found = nullptr;
            for (PythonStatement& statement : source.statements)
                if (statement.target == name) found = &statement.value;
            if (found == nullptr) return nullptr;
            if (found->kind == Kind::List || found->kind == Kind::Dict) return found;
            if (found->kind != Kind::Name) return nullptr;
            name = found->text;
        }
        return nullptr;
    }

    /// The value of an item that is added; throws if it is computed.
    static PythonValue added(const PythonSource& source, const PythonValue& item) {
        PythonValue value = source.resolved(item);
        if (value.kind == Kind::Name || value.kind == Kind::Call) throw Unreadable{};
        return value;
    }

    static void set(const PythonSource& source, PythonValue& dict, const PythonValue& key,
                    const PythonValue& value) {
        if (dict.kind != Kind::Dict || key.kind != Kind::Text) throw Unreadable{};
        PythonValue entry = source.resolved(value);
        for (std::size_t i = 0; i < dict.keys.size(); ++i)
            if (dict.keys[i].kind == Kind::Text && dict.keys[i].text == key.text) {
                dict.items[i] = std::move(entry);
                return;
            }
        dict.keys.push_back(key);
        dict.items.push_back(std::move(entry));
    }

    /// Adds everything or, if a part of it is computed, nothing.
    static void extend(const PythonSource& source, PythonValue& collection, const PythonValue& by) {
        const PythonValue& more = source.resolved(by);
        if (collection.kind != more.kind) throw Unreadable{};
        PythonValue longer = collection;
        for (std::size_t i = 0; i < more.items.size(); ++i) {
            if (collection.kind == Kind::Dict)
                set(source, longer, more.keys[i], more.items[i]);
            else
                longer.items.push_back(added(source, more.items[i]));
        }
        collection = std::move(longer);
    }

    /// Applies "x.append(...)" to the collection x; false if the call is not a method of a collection.
    static bool applyMethod(PythonSource& source, const PythonValue& call) {
        const std::size_t dot = call.text.rfind('.');
        if (dot == std::string::npos) return false;
        PythonValue* collection = assignedCollection(source, call.text.substr(0, dot));
        if (collection == nullptr) return false;
        const std::string_view method = std::string_view(call.text).substr(dot + 1);
        const bool isList = collection->kind == Kind::List,
                   one = call.items.size() == 1 && call.named.empty();
        if (isList && method == "append" && one) {
            collection->items.push_back(added(source, call.items[0]));
        } else if (one && method == (isList ? "extend" : "update")) {
            extend(source, *collection, call.items[0]);
        } else if (!isList && method == "update" && call.items.empty()) {
            for (const auto& [key, value] : call.named) {
                PythonValue text;
                text.kind = Kind::Text;
                text.text = key;
                set(source, *collection, text, value);
            }
        } else {
            throw Unreadable{};
        }
        return true;
    }

    /// Applies the rest of "x += ..." and "x[key] = ..." after x.
    void change(PythonValue& collection, const PythonSource& source) {
        if (take("+")) {
            expect("=");
            const PythonValue by = expression();
            expectEnd();
            extend(source, collection, by);
            return;
        }
        expect("[");
        const PythonValue key = expression();
        expect("]");
        expect("=");
        const PythonValue value = expression();
        expectEnd();
        set(source, collection, key, value);
    }

    bool isEnd() const { return m_tokens[m_at].kind == TokenKind::NewLine || isMark(";"); }
    void expectEnd() const {
        if (!isEnd()) throw Unreadable{};
    }

    void statement(PythonSource& source) {
        const int line = m_tokens[m_at].line;
        PythonValue value = expression();
        if (isMark(",")) {  // a tuple without brackets: "A, B = 1, 2" is not settings
            throw Unreadable{};
        }
        if (value.kind == Kind::Name && (isMark("+") || isMark("["))) {
            PythonValue* collection = assignedCollection(source, value.text);
            if (collection == nullptr) throw Unreadable{};
            change(*collection, source);
            return;
        }
        if (value.kind == Kind::Call && isEnd() && applyMethod(source, value)) return;
        if (!take("=")) {
            if (value.kind == PythonValue::Kind::Text) return;  // a docstring
            if (value.kind != PythonValue::Kind::Call) throw Unreadable{};
            source.statements.push_back({line, "", std::move(value)});
            return;
        }
        if (value.kind != PythonValue::Kind::Name) throw Unreadable{};
        PythonValue assigned = expression();
        if (isMark(",") || isMark("=")) throw Unreadable{};
        source.statements.push_back({line, value.text, std::move(assigned)});
    }

    PythonValue expression() {
        if (++m_depth > 200) throw Unreadable{};
        PythonValue value = atom();
        --m_depth;
        return value;
    }

    PythonValue atom() {
        const Token& token = m_tokens[m_at];
        PythonValue value;
        value.line = token.line;
        switch (token.kind) {
            case TokenKind::Text:
                value.kind = PythonValue::Kind::Text;
                while (m_tokens[m_at].kind == TokenKind::Text) value.text += m_tokens[m_at++].text;
                return value;
            case TokenKind::Number:
                return number(1);
            case TokenKind::Name:
                return name();
            case TokenKind::Mark:
                break;
            default:
                throw Unreadable{};
        }
        if (take("-")) return number(-1);
        if (take("[")) return list(value, "]");
        if (take("{")) return dict(value);
        if (take("(")) {
            PythonValue inner = list(value, ")");
            return inner.items.size() == 1 && !m_comma ? PythonValue(inner.items[0]) : inner;
        }
        throw Unreadable{};
    }

    PythonValue number(int sign) {
        const Token& token = m_tokens[m_at];
        PythonValue value;
        value.kind = PythonValue::Kind::Number;
        value.line = token.line;
        const auto number = parsed<double>(token.text);
        if (token.kind != TokenKind::Number || !number) throw Unreadable{};
        value.number = sign * *number;
        ++m_at;
        return value;
    }

    PythonValue list(PythonValue value, std::string_view end) {
        value.kind = PythonValue::Kind::List;
        bool comma = false;
        while (!isMark(end)) {
            value.items.push_back(expression());
            comma = take(",");
            if (!comma) break;
        }
        expect(end);
        m_comma = comma;
        return value;
    }

    PythonValue dict(PythonValue value) {
        value.kind = PythonValue::Kind::Dict;
        while (!isMark("}")) {
            value.keys.push_back(expression());
            expect(":");
            value.items.push_back(expression());
            if (!take(",")) break;
        }
        expect("}");
        return value;
    }

    PythonValue name() {
        PythonValue value;
        value.line = m_tokens[m_at].line;
        value.text = m_tokens[m_at++].text;
        if (value.text == "None") return value;
        if (value.text == "True" || value.text == "False") {
            value.kind = PythonValue::Kind::Bool;
            value.truth = value.text == "True";
            return value;
        }
        value.kind = PythonValue::Kind::Name;
        while (true) {
            if (take(".")) {
                if (m_tokens[m_at].kind != TokenKind::Name) throw Unreadable{};
                value.text += "." + m_tokens[m_at++].text;
            } else if (value.kind == PythonValue::Kind::Name && take("(")) {
                arguments(value);
            } else {
                return value;
            }
        }
    }

    void arguments(PythonValue& call) {
        call.kind = PythonValue::Kind::Call;
        while (!isMark(")")) {
            if (m_tokens[m_at].kind == TokenKind::Name && m_tokens[m_at + 1].kind == TokenKind::Mark &&
                m_tokens[m_at + 1].text == "=") {
                const std::string key = m_tokens[m_at].text;
                m_at += 2;
                call.named.push_back({key, expression()});
            } else {
                call.items.push_back(expression());
            }
            if (!take(",")) break;
        }
        expect(")");
    }

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    int m_depth = 0;
    bool m_comma = false;  ///< the last list ended with a comma
};

bool sameName(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

const PythonValue* keywordAnywhere(const PythonValue& value, std::string_view name) {
    const PythonValue* found = value.keyword(name);
    for (const auto& [key, argument] : value.named)
        if (const PythonValue* inner = keywordAnywhere(argument, name)) found = inner;
    for (const PythonValue& item : value.items)
        if (const PythonValue* inner = keywordAnywhere(item, name)) found = inner;
    return found;
}

}  // namespace

const PythonValue& PythonSource::resolved(const PythonValue& value) const {
    const PythonValue* current = &value;
    for (int steps = 0; steps < 10 && current->kind == PythonValue::Kind::Name; ++steps) {
        const PythonValue* next = nullptr;
        for (const PythonStatement& statement : statements)
            if (statement.target == current->text) next = &statement.value;
        if (next == nullptr) break;
        current = next;
    }
    return *current;
}

const PythonValue* PythonSource::find(std::string_view name) const {
    const PythonValue* found = nullptr;
    for (const PythonStatement& statement : statements)
        if (const PythonValue* keyword = keywordAnywhere(statement.value, name)) found = keyword;
    if (found != nullptr) return &resolved(*found);
    for (const PythonStatement& statement : statements)
        if (sameName(statement.target, name)) found = &statement.value;
    return found == nullptr ? nullptr : &resolved(*found);
}

std::vector<std::string> PythonSource::changeNotices() const {
    std::vector<std::string> notices;
    for (const auto& [line, name] : unreadChanges)
        notices.push_back(fmt::format("line {}: this change of '{}' is ignored", line, name));
    return notices;
}

PythonSource parsePython(std::string_view text) { return Parser(pythonTokens(text)).run(); }

}  // namespace quantloupe
