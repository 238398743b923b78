// SPDX-License-Identifier: Apache-2.0
#include "interchange/text/proto_text.h"

#include <cctype>

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
            if (peek() == '\\' && m_at + 1 < m_text.size()) ++m_at;
            f.text += peek();
        }
        ++m_at;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_line = 1, m_depth = 0;
};

}  // namespace

std::vector<ProtoField> parseProtoText(std::string_view text) { return TextParser(text).run(); }

}  // namespace quantloupe
