// SPDX-License-Identifier: Apache-2.0
// The header is the text of a Python dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), },
// so this contains a parser for that subset of Python.

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "data/npy_format.h"

namespace quantloupe {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kMaxHeaderBytes = 1 << 20;
constexpr std::size_t kMaxDims = 32;  // numpy's own limit

[[noreturn]] void failHeader(std::string_view what) { failInput("the .npy header is damaged: {}", what); }

class HeaderReader {
  public:
    explicit HeaderReader(std::string_view text) : m_left(text) {}

    NpyHeader read() {
        NpyHeader header;
        bool descr = false, order = false, shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !descr) {
                descr = true;
                if (peek() == '[')
                    skipList();  // a structured type
                else
                    header.descr = string();
            } else if (key == "fortran_order" && !order) {
                order = true;
                header.fortranOrder = boolean();
            } else if (key == "shape" && !shape) {
                shape = true;
                header.shape = tuple();
            } else {
                failHeader(fmt::format("unexpected key '{}'", key));
            }
            if (!accept(',') && peek() != '}') failHeader("a comma is missing");
        }
        if (!descr || !order || !shape) failHeader("'descr', 'fortran_order' or 'shape' is missing");
        return header;
    }

  private:
    char peek() {
        const std::size_t at = m_left.find_first_not_of(" \t\r\n");
        m_left.remove_prefix(at == std::string_view::npos ? m_left.size() : at);
        return m_left.empty() ? '\0' : m_left.front();
    }
    bool accept(char expected) {
        if (peek() != expected || m_left.empty()) return false;
        m_left.remove_prefix(1);
        return true;
    }
    void expect(char expected) {
        if (!accept(expected)) failHeader(fmt::format("'{}' is missing", expected));
    }
    std::string string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') failHeader("a string is missing");
        const std::size_t end = m_left.find(quote, 1);
        if (end == std::string_view::npos) failHeader("a string does not end");
        std::string text(m_left.substr(1, end - 1));
        m_left.remove_prefix(end + 1);
        return text;
    }
    bool boolean() {
        peek();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
            if (m_left.starts_with(word)) {
                m_left.remove_prefix(word.size());
                return value;
            }
        failHeader("'fortran_order' is neither True nor False");
    }
    Dims tuple() {
        Dims dims;
        expect('(');
        while (!accept(')')) {
            peek();
            std::int64_t extent = -1;
            const auto [end, error] = std::from_chars(m_left.data(), m_left.data() + m_left.size(), extent);
            if (error != std::errc() || extent < 0) failHeader("'shape' contains an invalid extent");
            m_left.remove_prefix(static_cast<std::size_t>(end - m_left.data()));
            accept('L');  // as Python 2 wrote it
            dims.push_back(extent);
            if (dims.size() > kMaxDims) failHeader("'shape' has too many dimensions");
            if (!accept(',') && peek() != ')') failHeader("a comma is missing in 'shape'");
        }
        return dims;
    }
    void skipList() {
        std::size_t depth = 0;
        do {
            const char at = peek();
            if (at == '\0') failHeader("'descr' does not end");
            if (at == '\'' || at == '"') {
                string();
                continue;
            }
            if (at == '[' || at == '(') ++depth;
            if (at == ']' || at == ')') --depth;
            m_left.remove_prefix(1);
        } while (depth > 0);
    }

    std::string_view m_left;
};

struct TypeCode {
    std::string_view code;
    DataType type;
};
constexpr std::array<TypeCode, 12> kTypes = {{{"b1", DataType::Bool},
                                              {"i1", DataType::Int8},
                                              {"i2", DataType::Int16},
                                              {"i4", DataType::Int32},
                                              {"i8", DataType::Int64},
                                              {"u1", DataType::UInt8},
                                              {"u2", DataType::UInt16},
                                              {"u4", DataType::UInt32},
                                              {"u8", DataType::UInt64},
                                              {"f2", DataType::Float16},
                                              {"f4", DataType::Float32},
                                              {"f8", DataType::Float64}}};

}  // namespace

DataType NpyHeader::type() const {
    if (descr.size() != 3) return DataType::Undefined;
    for (const TypeCode& entry : kTypes)
        if (std::string_view(descr).substr(1) == entry.code) return entry.type;
    return DataType::Undefined;
}

NpyHeader readNpyHeader(const ByteSource& source) {
    std::array<std::byte, 12> start{};
    if (source(start.data(), 8) != 8 || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
        failInput("this is not a .npy file: it does not start with numpy's magic string");
    const auto major = std::to_integer<int>(start[6]);
    if (major < 1 || major > 3) fail(ErrorKind::Unsupported, "the .npy format {}.x is not supported", major);
    const std::size_t lengthBytes = major == 1 ? 2 : 4;
    if (source(start.data() + 8, lengthBytes) != lengthBytes) failHeader("the file ends within the header");
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < lengthBytes; ++i)
        length |= std::to_integer<std::uint32_t>(start[8 + i]) << (8 * i);
    if (length > kMaxHeaderBytes) failHeader(fmt::format("{} bytes is too long", length));
    std::string text(length, '\0');
    if (source(reinterpret_cast<std::byte*>(text.data()), length) != length)
        failHeader("the file ends within the header");
    NpyHeader header = HeaderReader(text).read();
    header.bytes = 8 + lengthBytes + length;
    return header;
}

std::string npyHeaderFor(const Constant& array) {
    std::string code;
    for (const TypeCode& entry : kTypes)
        if (entry.type == array.type()) code = entry.code;
    if (code.empty())
        fail(ErrorKind::Unsupported, "arrays of {} cannot be written to a numpy file",
             dataTypeName(array.type()));
    const char order = elementSize(array.type()) == 1 ? '|' : '<';
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                                   code, fmt::join(array.dims(), ", "), array.dims().size() == 1 ? "," : "");
    constexpr std::size_t kPreamble = 10, kAlignment = 64;
    text.append(kAlignment - 1 - (kPreamble + text.size()) % kAlignment, ' ');
    text += '\n';
    std::string header(kMagic);
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() & 0xff);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

}  // namespace quantloupe
