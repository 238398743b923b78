// SPDX-License-Identifier: Apache-2.0
#include "data/class_list.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/input_file.h"
#include "base/short_text.h"
#include "base/text.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

struct Line {
    std::size_t number = 0;
    std::string name;  ///< empty: the line contains only a class
    std::string label;
};

/// Removes quotation marks around a value; "" inside them stands for one.
std::string unquoted(std::string_view text) {
    text = trimmed(text);
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
    std::string result;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        result += text[i];
        if (text[i] == '"' && text[i + 1] == '"') ++i;
    }
    return result;
}

/// Splits at the separator, unless it is in quotation marks.
std::vector<std::string> columns(std::string_view text, char separator) {
    std::vector<std::string> result;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '"') quoted = !quoted;
        if (i < text.size() && (quoted || text[i] != separator)) continue;
        result.push_back(unquoted(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    return result;
}

Line splitLine(std::string_view text, std::size_t number, char separator) {
    if (separator == ' ') {  // a name may contain spaces
        const std::size_t last = text.find_last_of(" \t");
        if (last == std::string_view::npos) return {number, {}, std::string(text)};
        return {number, std::string(trimmed(text.substr(0, last))), std::string(text.substr(last + 1))};
    }
    std::vector<std::string> found = columns(text, separator);
    if (found.size() != 2 || found[0].empty())
        failInput("line {} has {}: each line must contain the name of an image and its class", number,
                  found[0].empty() ? "no name" : counted(found.size(), "column"));
    return {number, std::move(found[0]), std::move(found[1])};
}

std::vector<Line> readLines(const fs::path& path) {
    constexpr std::uint64_t kMaxBytes = std::uint64_t(1) << 30;
    const std::string text = readFile(path, kMaxBytes);
    std::vector<Line> lines;
    char separator = 0;
    std::size_t number = 0;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    for (std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
         begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = trimmed(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
        ++number;
        if (line.empty()) continue;
        if (separator == 0)
            separator = line.find('\t') != std::string_view::npos  ? '\t'
                        : line.find(',') != std::string_view::npos ? ','
                                                                   : ' ';
        lines.push_back(splitLine(line, number, separator));
        if (lines.back().label.empty()) failInput("line {} contains no class", number);
    }
    if (lines.empty()) failInput("the file contains no classes");
    return lines;
}

/// The lines of a file by the names that an image can have in it.
class LinesByName {
  public:
    explicit LinesByName(const std::vector<Line>& lines) {
        for (const Line& line : lines) {
            const fs::path path(line.name);
            add(path.lexically_normal().generic_string(), line);
            add(path.filename().generic_string(), line);
            add(path.stem().generic_string(), line);
        }
    }

    /// Throws Error if there is no line for the image, or lines with several classes.
    const Line& find(const std::string& image) const {
        const fs::path path(image);
        for (const std::string& name :
             {path.generic_string(), path.filename().generic_string(), path.stem().generic_string()}) {
            const auto found = m_lines.find(name);
            if (found == m_lines.end()) continue;
            const auto& [line, other] = found->second;
            if (other != nullptr)
                failInput("the lines {} and {} contain the classes '{}' and '{}' for the image '{}'",
                          line->number, other->number, line->label, other->label, image);
            return *line;
        }
        failInput("there is no line for the image '{}'", image);
    }

  private:
    struct Found {
        const Line* line;
        const Line* other;  ///< with another class; null: none
    };

    void add(const std::string& name, const Line& line) {
        const auto [known, added] = m_lines.try_emplace(name, Found{&line, nullptr});
        if (!added && known->second.line->label != line.label) known->second.other = &line;
    }

    std::unordered_map<std::string, Found> m_lines;
};

/// Returns the line of each sample.
std::vector<const Line*> linesOfSamples(const std::vector<Line>& lines, const Dataset& data, bool named) {
    std::vector<const Line*> result;
    const auto hasName = [](const Line& line) { return !line.name.empty(); };
    if (std::ranges::none_of(lines, hasName)) {
        if (lines.size() != data.size())
            failInput(
                "the file has {} without names of images, but the data has {}: they are matched by "
                "position, so their numbers must be equal",
                counted(lines.size(), "line"), counted(data.size(), "sample"));
        for (const Line& line : lines) result.push_back(&line);
        return result;
    }
    if (!named)
        failInput(
            "the file contains names of images, but the samples have no file names: write only the class in "
            "each line, in the order of the samples");
    const LinesByName byName(lines);
    for (std::size_t s = 0; s < data.size(); ++s) result.push_back(&byName.find(data.sampleName(s)));
    return result;
}

bool isHeader(const Line& line) {
    constexpr std::array<std::string_view, 8> kTitles = {"label", "labels",   "class",  "class_name",
                                                         "name",  "category", "target", "synset"};
    return std::ranges::count(kTitles, std::string_view(lowerCase(line.label))) > 0;
}

}  // namespace

bool isClassList(const fs::path& path) {
    const std::string extension = lowerCase(path.extension().string());
    return extension == ".txt" || extension == ".csv" || extension == ".tsv";
}

ClassList readClassList(const fs::path& path, const Dataset& data, bool named,
                        std::span<const std::string> names) {
    const std::vector<Line> lines = readLines(path);
    const std::vector<const Line*> ofSamples = linesOfSamples(lines, data, named);
    ClassList list;
    for (const Line* line : ofSamples) {
        const auto index = parsed<int>(line->label);
        if (!index) break;
        if (*index < 0) failInput("line {}: the class {} is negative", line->number, *index);
        list.classes.push_back(*index);
    }
    if (list.classes.size() == ofSamples.size()) return list;

    list.names.assign(names.begin(), names.end());
    if (names.empty()) {
        std::set<std::string> all;
        for (const Line& line : lines)
            if (&line != &lines.front() || !isHeader(line)) all.insert(line.label);
        list.names.assign(all.begin(), all.end());
    }
    std::unordered_map<std::string, int> positions;
    for (std::size_t n = 0; n < list.names.size(); ++n) positions.emplace(list.names[n], static_cast<int>(n));
    list.classes.clear();
    for (const Line* line : ofSamples) {
        const auto position = positions.find(line->label);
        if (position == positions.end())
            failInput("line {}: '{}' is not one of the {}", line->number, line->label,
                      counted(list.names.size(), "class name"));
        list.classes.push_back(position->second);
    }
    return list;
}

}  // namespace quantloupe
