// SPDX-License-Identifier: Apache-2.0
#include "interchange/python_source.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace quantloupe {
namespace {

enum class TokenKind { Name, Number, Text, FormatText, Mark, NewLine, End };

struct Token {
    TokenKind kind = TokenKind::End;
    std::string text;
    int line = 1;
};

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool isNamePart(char c) { return isNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

void appendUtf8(std::string& text, unsigned long code) {
    const auto put = [&](unsigned long byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) return put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
    if (code < 0x10000) return put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : m_text(text) {}

    std::vector<Token> run() {
        while (m_at < m_text.size()) next();
        if (!m_open.empty())
            failInput("line {}: the '{}' is never closed", m_open.back().second, m_open.back().first);
        m_tokens.push_back({TokenKind::NewLine, "", m_line});
        m_tokens.push_back({TokenKind::End, "", m_line});
        return std::move(m_tokens);
    }

  private:
    char peek(std::size_t ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }
    void add(TokenKind kind, std::string text) { m_tokens.push_back({kind, std::move(text), m_line}); }

    void next() {
        const char c = peek();
        if (c == '\n') {
            if (m_open.empty()) add(TokenKind::NewLine, "");
            ++m_line;
            ++m_at;
        } else if (c == '\\' && peek(1) == '\n') {
            ++m_line;
            m_at += 2;
        } else if (c == '#') {
            while (m_at < m_text.size() && peek() != '\n') ++m_at;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++m_at;
        } else if (c == '"' || c == '\'') {
            string("");
        } else if (isNameStart(c)) {
            name();
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                   (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0)) {
            number();
        } else {
            mark();
        }
    }

    void name() {
        const std::size_t start = m_at;
        while (isNamePart(peek())) ++m_at;
        const std::string text(m_text.substr(start, m_at - start));
        if ((peek() == '"' || peek() == '\'') && text.size() <= 2) return string(text);
        add(TokenKind::Name, text);
    }

    void number() {
        const std::size_t start = m_at;
        while (isNamePart(peek()) || peek() == '.' ||
               ((peek() == '-' || peek() == '+') && (m_text[m_at - 1] == 'e' || m_text[m_at - 1] == 'E')))
            ++m_at;
        std::string text(m_text.substr(start, m_at - start));
        std::erase(text, '_');
        add(TokenKind::Number, text);
    }

    void mark() {
        const char c = peek();
        if (c == '(' || c == '[' || c == '{') m_open.emplace_back(c, m_line);
        if (c == ')' || c == ']' || c == '}') {
            if (m_open.empty()) failInput("line {}: a '{}' closes nothing", m_line, c);
            m_open.pop_back();
        }
        std::string text(1, c);
        if (c == '=' && peek(1) == '=') text = "==";
        if (c == '*' && peek(1) == '*') text = "**";
        m_at += text.size();
        add(TokenKind::Mark, text);
    }

    void string(std::string prefix) {
        std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                       [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
        const bool raw = prefix.find('r') != std::string::npos;
        const char quote = peek();
        const bool triple = peek(1) == quote && peek(2) == quote;
        const int start = m_line;
        m_at += triple ? 3 : 1;
        std::string value;
        const auto ended = [&] { return triple ? peek() == quote && peek(1) == quote && peek(2) == quote : peek() == quote; };
        while (!ended()) {
            if (m_at >= m_text.size() || (peek() == '\n' && !triple)) failInput("line {}: the text is never closed", start);
            if (peek() == '\n') ++m_line;
            if (peek() == '\\' && !raw) escape(value, start);
            else value += m_text[m_at++];
        }
        m_at += triple ? 3 : 1;
        m_tokens.push_back({prefix.find('f') != std::string::npos ? TokenKind::FormatText : TokenKind::Text, std::move(value), start});
    }

    void escape(std::string& value, int start) {
        ++m_at;
        const char c = peek();
        ++m_at;
        const auto code = [&](std::size_t digits) {
            unsigned long number = 0;
            const char* from = m_text.data() + std::min(m_at, m_text.size());
            const char* to = m_text.data() + std::min(m_at + digits, m_text.size());
            const auto read = std::from_chars(from, to, number, 16);
            if (read.ec != std::errc() || read.ptr != from + digits || number > 0x10FFFF)
                failInput("line {}: the text holds a bad escape, \\{}", start, c);
            m_at += digits;
            appendUtf8(value, number);
        };
        switch (c) {
            case 'n': value += '\n'; break;
            case 't': value += '\t'; break;
            case 'r': value += '\r'; break;
            case 'b': value += '\b'; break;
            case 'f': value += '\f'; break;
            case 'x': code(2); break;
            case 'u': code(4); break;
            case 'U': code(8); break;
            case '\n': ++m_line; break;
            case '\\': case '\'': case '"': case '/': value += c; break;
            default: value += '\\'; value += c;
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_line = 1;
    std::vector<std::pair<char, int>> m_open;
    std::vector<Token> m_tokens;
};

/// What the parser cannot read; the statement is passed over.
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
                if (m_tokens[m_at].kind != TokenKind::NewLine && !isMark(";")) throw Unreadable{};
                ++m_at;
            } catch (const Unreadable&) {
                m_at = start;
                if (!isHarmless(m_tokens[start].text)) source.unread.push_back(m_tokens[start].line);
                while (m_tokens[m_at].kind != TokenKind::NewLine) ++m_at;
            }
        }
        return source;
    }

  private:
    static bool isHarmless(const std::string& word) {
        static constexpr std::string_view kWords[] = {"import", "from", "pass", "def", "class", "return", "if", "else"};
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

    void statement(PythonSource& source) {
        const int line = m_tokens[m_at].line;
        PythonValue value = expression();
        if (isMark(",")) {  // a tuple without brackets: "A, B = 1, 2" is not settings
            throw Unreadable{};
        }
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
            case TokenKind::Number: return number(1);
            case TokenKind::Name: return name();
            case TokenKind::Mark: break;
            default: throw Unreadable{};
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
        const char* end = token.text.data() + token.text.size();
        const auto read = std::from_chars(token.text.data(), end, value.number);
        if (token.kind != TokenKind::Number || read.ec != std::errc() || read.ptr != end) throw Unreadable{};
        value.number *= sign;
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
                call.named.emplace_back(key, expression());
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

std::string_view kindName(PythonValue::Kind kind) {
    switch (kind) {
        case PythonValue::Kind::None: return "None";
        case PythonValue::Kind::Bool: return "True or False";
        case PythonValue::Kind::Number: return "a number";
        case PythonValue::Kind::Text: return "a text";
        case PythonValue::Kind::List: return "a list";
        case PythonValue::Kind::Dict: return "a dictionary";
        case PythonValue::Kind::Name: return "a name";
        case PythonValue::Kind::Call: return "a call";
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
    return kind == Kind::List &&
           std::all_of(items.begin(), items.end(), [](const PythonValue& item) { return item.kind == Kind::Text; });
}

std::vector<std::string> PythonValue::texts() const {
    std::vector<std::string> list;
    for (const PythonValue& item : items) list.push_back(item.text);
    return list;
}

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

PythonSource parsePython(std::string_view text) { return Parser(Lexer(text).run()).run(); }

}  // namespace quantloupe
