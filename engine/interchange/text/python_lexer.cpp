// SPDX-License-Identifier: Apache-2.0
#include "interchange/text/python_lexer.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace quantloupe {
namespace {

using Token = PythonToken;
using TokenKind = PythonTokenKind;

bool isNameStart(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool isNamePart(char c) { return isNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

void appendUtf8(std::string& text, unsigned long code) {
    const auto put = [&](unsigned long byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) return put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
    if (code < 0x10000)
        return put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
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
    char peek(std::size_t ahead = 0) const {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }
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
            if (m_open.empty()) failInput("line {}: '{}' has no matching opening bracket", m_line, c);
            m_open.pop_back();
        }
        std::string text(1, c);
        if (c == '=' && peek(1) == '=') text = "==";
        if (c == '*' && peek(1) == '*') text = "**";
        m_at += text.size();
        add(TokenKind::Mark, text);
    }

    void string(std::string_view prefix) {
        const bool raw = lowerCase(prefix).find('r') != std::string::npos;
        const char quote = peek();
        const bool triple = peek(1) == quote && peek(2) == quote;
        const int start = m_line;
        m_at += triple ? 3 : 1;
        std::string value;
        const auto ended = [&] {
            return triple ? peek() == quote && peek(1) == quote && peek(2) == quote : peek() == quote;
        };
        while (!ended()) {
            if (m_at >= m_text.size() || (peek() == '\n' && !triple))
                failInput("line {}: the string is never closed", start);
            if (peek() == '\n') ++m_line;
            if (peek() == '\\' && !raw)
                escape(value, start);
            else
                value += m_text[m_at++];
        }
        m_at += triple ? 3 : 1;
        m_tokens.push_back({prefix.find('f') != std::string::npos ? TokenKind::FormatText : TokenKind::Text,
                            std::move(value), start});
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
                failInput("line {}: the string contains an invalid escape sequence, \\{}", start, c);
            m_at += digits;
            appendUtf8(value, number);
        };
        switch (c) {
            case 'n':
                value += '\n';
                break;
            case 't':
                value += '\t';
                break;
            case 'r':
                value += '\r';
                break;
            case 'b':
                value += '\b';
                break;
            case 'f':
                value += '\f';
                break;
            case 'x':
                code(2);
                break;
            case 'u':
                code(4);
                break;
            case 'U':
                code(8);
                break;
            case '\n':
                ++m_line;
                break;
            case '\\':
            case '\'':
            case '"':
            case '/':
                value += c;
                break;
            default:
                value += '\\';
                value += c;
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_line = 1;
    std::vector<std::pair<char, int>> m_open;
    std::vector<Token> m_tokens;
};

}  // namespace

std::vector<PythonToken> pythonTokens(std::string_view text) { return Lexer(text).run(); }

}  // namespace quantloupe
