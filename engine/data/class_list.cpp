// SPDX-License-Identifier: Apache-2.0
#include "data/class_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/is_one_of.h"
#include "base/short_text.h"
#include "base/text.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

struct Line {
    std::size_t number = 0;
    std::string text;   ///< without blanks at its ends
    std::string name;   ///< empty: the line contains only a class
    std::string label;  ///< empty if there is a problem
    std::string problem;
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
    Line line{number, std::string(text), {}, {}, {}};
    if (separator == ' ') {  // a name may contain spaces
        const std::size_t last = text.find_last_of(" \t");
        if (last != std::string_view::npos) line.name = unquoted(text.substr(0, last));
        line.label = unquoted(last == std::string_view::npos ? text : text.substr(last + 1));
        return line;
    }
    std::vector<std::string> found = columns(text, separator);
    line.name = std::move(found[0]);
    if (found.size() != 2)
        line.problem =
            fmt::format("line {} has {}: each line must contain the name of an image and its class", number,
                        counted(found.size(), "column"));
    else if (line.name.empty() || found[1].empty())
        line.problem = fmt::format("line {} contains no {}", number, line.name.empty() ? "name" : "class");
    else
        line.label = std::move(found[1]);
    return line;
}

char separatorIn(std::string_view line) {
    for (const char separator : {'\t', ',', ';'})
        if (line.find(separator) != std::string_view::npos) return separator;
    return ' ';
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
        if (separator == 0) separator = separatorIn(line);
        lines.push_back(splitLine(line, number, separator));
    }
    if (lines.empty()) failInput("the file contains no classes");
    return lines;
}

/// Splits "x/a.jpg" into the folder "x" and the name "a.jpg".
std::pair<std::string_view, std::string_view> splitPath(std::string_view path) {
    while (path.starts_with("./")) path.remove_prefix(2);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return {{}, path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

/// Whether one folder is the end of the other one: "x" of "val/x".
bool fit(std::string_view a, std::string_view b) {
    if (a.size() < b.size()) std::swap(a, b);
    return b.empty() || a == b || (a.ends_with(b) && a[a.size() - b.size() - 1] == '/');
}

/// The lines of a file by the names of images.
class LinesByName {
  public:
    explicit LinesByName(const std::vector<Line>& lines) {
        for (const Line& line : lines) m_lines.emplace(splitPath(line.name).second, &line);
    }

    /// Returns null if there is no line for the image. Throws Error if there are lines with several classes.
    const Line* find(const std::string& image) const {
        const auto [folder, name] = splitPath(image);
        const std::string_view stem = name.substr(0, name.rfind('.'));
        // The whole path has priority over a part of it, and a name with its extension over one without.
        for (const bool whole : {true, false})
            for (const std::string_view key : {name, stem}) {
                const Line* found = nullptr;
                const auto [first, last] = m_lines.equal_range(key);
                for (auto it = first; it != last; ++it) {
                    const Line* const line = it->second;
                    const std::string_view theirs = splitPath(line->name).first;
                    if (whole ? theirs != folder : !fit(theirs, folder)) continue;
                    if (found != nullptr && found->label != line->label)
                        failInput(
                            "lines {} and {} contain different classes, '{}' and '{}', for the image '{}'",
                            std::min(found->number, line->number), std::max(found->number, line->number),
                            found->number < line->number ? found->label : line->label,
                            found->number < line->number ? line->label : found->label, image);
                    if (found == nullptr || line->number < found->number) found = line;
                }
                if (found != nullptr) return found;
            }
        return nullptr;
    }

  private:
    std::unordered_multimap<std::string_view, const Line*> m_lines;
};

/// The whole number in a text such as "7" or "7.0"; empty for other texts.
std::optional<int> wholeNumber(const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value || *value != std::floor(*value) || std::abs(*value) > std::numeric_limits<int>::max())
        return {};
    return static_cast<int>(*value);
}

bool isImageName(const std::string& word) {
    const std::string ending = lowerCase(fs::path(word).extension().string());
    return isOneOf(ending, {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".gif", ".tif", ".tiff", ".ppm"});
}

/// Makes the whole text of each line its class. Throws Error if a line contains the name of an image.
void takeWholeLines(std::vector<Line>& lines, const Dataset& data) {
    for (Line& line : lines) {
        for (std::size_t begin = 0; begin < line.text.size();) {
            const std::size_t end = std::min(line.text.find_first_of(" \t,;|", begin), line.text.size());
            if (const std::string word = unquoted(line.text.substr(begin, end - begin)); isImageName(word))
                failInput(
                    "line {} contains '{}', but no line contains one of the images, such as '{}', and its "
                    "class, separated by a comma, a semicolon, a tab or a space",
                    line.number, word, data.sampleName(0));
            begin = end + 1;
        }
        line = {line.number, line.text, {}, unquoted(line.text), {}};
    }
}

/// For lines such as "a.jpg tabby cat", in which the class contains spaces: the first word is the name of an
/// image in every line. Returns false if nothing changes.
bool splitAtFirstBlank(std::vector<Line>& lines) {
    std::vector<Line> split;
    bool changes = false;
    for (const Line& line : lines) {
        const std::size_t blank = line.text.find_first_of(" \t");
        const std::string name = unquoted(line.text.substr(0, blank));
        if (blank == std::string::npos || !isImageName(name)) return false;
        changes = changes || name != line.name;
        const std::string label = unquoted(line.text.substr(blank + 1));
        const std::string_view last = std::string_view(label).substr(label.find_last_of(" \t") + 1);
        if (wholeNumber(label.substr(0, label.find_first_of(" \t"))) && parsed<double>(last) &&
            !wholeNumber(label))
            failInput("line {} must contain the name of an image and its class, and nothing else",
                      line.number);
        split.push_back({line.number, line.text, name, label, {}});
    }
    if (changes) lines = std::move(split);
    return changes;
}

/// Exchanges names and classes if the classes are the names of the samples, with their extensions. Returns
/// false if they are not.
bool exchangeColumns(std::vector<Line>& lines, const Dataset& data) {
    const auto isHeader = [&](const Line& line) { return &line == &lines.front(); };
    for (const Line& line : lines)
        if (!isImageName(line.label) && !isHeader(line)) return false;
    std::vector<Line> exchanged = lines;
    for (Line& line : exchanged) std::swap(line.name, line.label);
    const LinesByName byName(exchanged);
    for (std::size_t s = 0; s < data.size(); ++s)
        if (byName.find(data.sampleName(s)) == nullptr) return false;
    lines = std::move(exchanged);
    return true;
}

std::vector<const Line*> byPosition(const std::vector<Line>& lines, const Dataset& data) {
    std::vector<const Line*> result;
    for (const Line& line : lines) result.push_back(&line);
    const auto isNumber = [](const Line* line) { return wholeNumber(line->label).has_value(); };
    const bool header = lines.size() == data.size() + 1 && !isNumber(result.front()) &&
                        std::all_of(result.begin() + 1, result.end(), isNumber);
    if (header) result.erase(result.begin());
    if (result.size() != data.size())
        failInput(
            "the file has {} without names of images, but the data has {}: they are matched by position, so "
            "their numbers must be equal",
            counted(lines.size(), "line"), counted(data.size(), "sample"));
    return result;
}

/// Returns the line of each sample.
std::vector<const Line*> linesOfSamples(std::vector<Line>& lines, const Dataset& data, bool named) {
    const auto hasName = [](const Line& line) { return !line.name.empty() || !line.problem.empty(); };
    if (std::ranges::none_of(lines, hasName)) return byPosition(lines, data);
    if (!named)
        failInput(
            "the file contains names of images, but the samples have no file names: write only the class in "
            "each line, in the order of the samples");
    const LinesByName byName(lines);
    std::vector<const Line*> result;
    for (std::size_t s = 0; s < data.size(); ++s) result.push_back(byName.find(data.sampleName(s)));
    const auto isMissing = [](const Line* line) { return line == nullptr; };
    if (std::ranges::any_of(result, isMissing) && splitAtFirstBlank(lines))
        return linesOfSamples(lines, data, named);
    if (std::ranges::all_of(result, isMissing) && exchangeColumns(lines, data))
        return linesOfSamples(lines, data, named);
    if (lines.size() == data.size() && std::ranges::all_of(result, isMissing)) {
        takeWholeLines(lines, data);  // names of classes that contain spaces
        return byPosition(lines, data);
    }
    std::unordered_map<const Line*, std::size_t> sampleOf;
    for (std::size_t s = 0; s < data.size(); ++s) {
        const Line* const line = result[s];
        if (line == nullptr) failInput("there is no line for the image '{}'", data.sampleName(s));
        if (!line->problem.empty()) failInput("{}", line->problem);
        if (const auto [other, added] = sampleOf.emplace(line, s); !added)
            failInput("the images '{}' and '{}' both belong to line {}: write their paths in the data folder",
                      data.sampleName(other->second), data.sampleName(s), line->number);
    }
    return result;
}

/// Returns the sorted names of all classes in the file. The first line is a header if no sample uses it and
/// its class occurs only there.
std::vector<std::string> allNames(const std::vector<Line>& lines, const std::vector<const Line*>& used) {
    std::map<std::string, std::size_t> counts;
    for (const Line& line : lines)
        if (line.problem.empty()) ++counts[line.label];
    if (const Line& first = lines.front(); first.problem.empty() && std::ranges::count(used, &first) == 0)
        if (counts[first.label] == 1) counts.erase(first.label);
    std::vector<std::string> names;
    for (const auto& [name, count] : counts) names.push_back(name);
    return names;
}

/// Returns the position of each line's class in the names. Throws Error for a class that is not among them.
std::vector<int> positionsIn(const std::vector<std::string>& names, const std::vector<const Line*>& lines) {
    std::unordered_map<std::string, int> positions;
    for (std::size_t n = 0; n < names.size(); ++n) positions.emplace(names[n], static_cast<int>(n));
    std::vector<int> classes;
    for (const Line* line : lines) {
        const auto position = positions.find(line->label);
        if (position == positions.end())
            failInput("line {}: '{}' is not one of the {}", line->number, line->label,
                      counted(names.size(), "class name"));
        classes.push_back(position->second);
    }
    return classes;
}

}  // namespace

bool isClassList(const fs::path& path) {
    const std::string extension = lowerCase(path.extension().string());
    return extension == ".txt" || extension == ".csv" || extension == ".tsv";
}

ClassList readClassList(const fs::path& path, const Dataset& data, bool named,
                        const std::vector<std::string>& names) {
    std::vector<Line> lines = readLines(path);
    const std::vector<const Line*> used = linesOfSamples(lines, data, named);
    const auto allIn = [&](const std::vector<std::string>& known) {
        const std::set<std::string_view> set(known.begin(), known.end());
        return std::ranges::all_of(used, [&](const Line* line) { return set.contains(line->label); });
    };
    const auto isNumber = [](const Line* line) {
        return std::isfinite(parsed<double>(line->label).value_or(std::nan("")));
    };
    ClassList list;
    const auto number = std::ranges::find_if(used, isNumber);
    if (number != used.end() && !allIn(names)) {
        for (const Line* line : used) {
            const auto index = wholeNumber(line->label);
            if (!index && isNumber(line))
                failInput("line {}: the class '{}' is not a whole number", line->number, line->label);
            if (!index)
                failInput(
                    "line {}: the class '{}' is not a number, but that of line {} is: if they are names, "
                    "list all names in a file (class names)",
                    line->number, line->label, (*number)->number);
            if (*index < 0) failInput("line {}: the class {} is negative", line->number, *index);
            list.classes.push_back(*index);
        }
        return list;
    }
    list.names = !names.empty()                                           ? names
                 : !data.classNames().empty() && allIn(data.classNames()) ? data.classNames()
                                                                          : allNames(lines, used);
    list.classes = positionsIn(list.names, used);
    return list;
}

}  // namespace quantloupe
