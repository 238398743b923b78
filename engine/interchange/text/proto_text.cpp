// SPDX-License-Identifier: Apache-2.0
#include "interchange/text/proto_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace quantloupe {
namespace {

class TextParser {
  public:
    explicit TextParser(std::string_view text) : m_text(text) {}
    std::vector<ProtoField> run() {
        std::vector<ProtoField> fields;
        while (skipBlanks()) fields.push_back(field());
        return fields;
    }

  private:
    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    /// Returns false at the end of the text.
    bool skipBlanks() {
        while (m_at < m_text.size()) {
            const char c = peek();
            if (c == '\n') ++m_line;
            if (c == '#') {
                while (m_at < m_text.size() && peek() != '\n') ++m_at;
            } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',' || c == ';') {
                ++m_at;
            } else {
                return true;
            }
        }
        return false;
    }
    std::string word() {
        const std::size_t start = m_at;
        while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_' || peek() == '.' ||
               peek() == '-' || peek() == '+')
            ++m_at;
        return std::string(m_text.substr(start, m_at - start));
    }
    ProtoField field() {
        if (++m_depth > 16) failInput("line {}: messages are nested too deeply", m_line);
        ProtoField f;
        f.line = m_line;
        f.name = word();
        if (f.name.empty()) failInput("line {}: expected a field name, not '{}'", m_line, peek());
        skipBlanks();
        const bool colon = peek() == ':';
        if (colon) ++m_at;
        skipBlanks();
        if (peek() == '{') {
            ++m_at;
            f.message = true;
            while (skipBlanks() && peek() != '}') f.fields.push_back(field());
            if (peek() != '}') failInput("line {}: the '{{' of {} is never closed", f.line, f.name);
            ++m_at;
        } else if (!colon) {
            failInput("line {}: expected ':' or '{{' after {}", f.line, f.name);
        } else if (peek() == '"' || peek() == '\'') {
            quoted(f);
        } else {
            f.text = word();
            if (f.text.empty()) failInput("line {}: expected a value after {}", f.line, f.name);
        }
        --m_depth;
        return f;
    }
    void quoted(ProtoField& f) {
        const char quote = peek();
        f.quoted = true;
        for (++m_at; peek() != quote; ++m_at) {
            if (m_at >= m_text.size() || peek() == '\n')
                failInput("line {}: the string of {} is never closed", f.line, f.name);
            f.text += peek() == '\\' && m_at + 1 < m_text.size() ? escaped() : peek();
        }
        ++m_at;
    }

    /// Reads an escape of protobuf's text format, and stays on its last character.
    char escaped() {
        ++m_at;
        constexpr std::string_view kLetters = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
        if (const auto letter = kLetters.find(peek()); letter != std::string_view::npos)
            return kMeanings[letter];
        const auto digits = [&](int base, std::size_t most) {
            unsigned value = 0;
            const auto [end, error] = std::from_chars(
                m_text.data() + m_at, m_text.data() + std::min(m_at + most, m_text.size()), value, base);
            if (error == std::errc()) m_at = static_cast<std::size_t>(end - m_text.data()) - 1;
            return static_cast<char>(value & 0xff);
        };
        if (peek() >= '0' && peek() <= '7') return digits(8, 3);
        if ((peek() == 'x' || peek() == 'X') && m_at + 1 < m_text.size() &&
            std::isxdigit(static_cast<unsigned char>(m_text[m_at + 1]))) {
            ++m_at;
            return digits(16, 2);
        }
        return peek();
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_line = 1, m_depth = 0;
};

}  // namespace

std::string protoQuoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            quoted += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20)
            quoted += fmt::format("\\{:03o}", static_cast<unsigned>(c));
        else
            quoted += c;
    }
    return quoted + "\"";
}

std::vector<ProtoField> parseProtoText(std::string_view text) { return TextParser(text).run(); }

}  // namespace quantloupe
