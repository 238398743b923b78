// SPDX-License-Identifier: Apache-2.0
#include "model/layer_names.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"

namespace quantloupe {
namespace {

using Parts = std::vector<std::string_view>;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isIndexed(std::string_view part) { return isDigit(part.back()); }

/// Removes first parts that all names with several parts share, unless they are numbered or the only module.
void dropCommonParts(std::vector<Parts>& all) {
    while (true) {
        std::string_view common;
        std::size_t shortest = 64, count = 0;
        for (const Parts& parts : all) {
            if (parts.size() < 2) continue;
            if (count++ == 0) common = parts.front();
            if (parts.front() != common) return;
            shortest = std::min(shortest, parts.size());
        }
        if (count < 2 || shortest < 3 || isIndexed(common)) return;
        for (Parts& parts : all)
            if (parts.size() > 1) parts.erase(parts.begin());
    }
}

std::string joinedParts(const Parts& parts, std::size_t count, char separator) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += separator;
        text += parts[i];
    }
    return text;
}

/// The display name of one layer, which grows until it is unique.
class GrowingName {
  public:
    GrowingName(std::string_view name, Parts parts, bool withOperator)
        : m_name(name), m_parts(std::move(parts)), m_shown(m_parts.size(), false) {
        const std::size_t count = m_parts.size();
        const std::size_t modules = count - (withOperator && count > 1 ? 1 : 0);
        std::fill(m_shown.begin() + static_cast<std::ptrdiff_t>(modules) - 1, m_shown.end(), true);
        std::size_t block = modules > 1 ? modules - 2 : 0;
        for (std::size_t i = modules; i-- > 0;)
            if (isIndexed(m_parts[i]) && i + 1 < modules) block = i;
        show(block);
        for (std::size_t i = modules; i-- > 0;)
            if (m_shown[i]) show(i);
        m_modules = modules;
    }

    /// Shows more: first all numbered parts, then the others from the end, finally the whole name.
    void grow() {
        bool grown = false;
        for (std::size_t i = 0; i < m_modules; ++i)
            if (!m_shown[i] && isIndexed(m_parts[i])) grown = true, show(i);
        for (std::size_t i = m_modules; i-- > 0 && !grown;)
            if (!m_shown[i]) grown = true, show(i);
        m_whole = !grown;
    }
    bool isWhole() const { return m_whole; }

    std::string text() const {
        if (m_whole) return std::string(m_name);
        Parts shown;
        for (std::size_t i = 0; i < m_parts.size(); ++i)
            if (m_shown[i]) shown.push_back(m_parts[i]);
        return joinedParts(shown, shown.size(), '/');
    }

  private:
    /// A bare number is meaningless without the part before it.
    void show(std::size_t part) {
        m_shown[part] = true;
        const bool number = std::ranges::all_of(m_parts[part], isDigit);
        if (number && part > 0) m_shown[part - 1] = true;
    }

    std::string_view m_name;
    Parts m_parts;
    std::vector<bool> m_shown;
    std::size_t m_modules = 0;
    bool m_whole = false;
};

std::vector<std::string> uniqueTexts(std::vector<GrowingName>& candidates) {
    std::vector<std::string> texts;
    texts.reserve(candidates.size());
    for (const GrowingName& candidate : candidates) texts.push_back(candidate.text());
    for (bool grown = true; grown;) {
        grown = false;
        std::unordered_map<std::string_view, std::vector<std::size_t>> same;
        for (std::size_t i = 0; i < texts.size(); ++i) same[texts[i]].push_back(i);
        std::vector<std::size_t> growing;
        for (const auto& [text, indices] : same)
            if (indices.size() > 1)
                for (const std::size_t i : indices)
                    if (!candidates[i].isWhole()) growing.push_back(i);
        for (const std::size_t i : growing) {
            candidates[i].grow();
            texts[i] = candidates[i].text();
            grown = true;
        }
    }
    return texts;
}

std::string searchText(std::string_view text) {
    std::string result = lowerCase(text);
    std::ranges::replace(result, '/', '.');
    return result;
}

bool beginsWord(std::string_view text, std::size_t at) {
    return at == 0 || std::string_view(" \n\t'\"(,").find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> nameParts(std::string_view name) {
    constexpr std::size_t kMost = 64, kLongest = 1000;
    Parts parts;
    for (std::size_t at = 0; at < name.size() && name.size() <= kLongest;) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        const std::string_view part = name.substr(at, end - at);
        at = end + 1;
        if (part.empty()) continue;
        const bool repeats = !parts.empty() && part.size() > parts.back().size() &&
                             part.starts_with(parts.back()) && part[parts.back().size()] == '.';
        if (repeats) parts.pop_back();
        parts.push_back(part);
    }
    if (parts.empty() || parts.size() > kMost) parts = {name};
    return parts;
}

std::string moduleOf(const Node& node) {
    const Parts parts = nameParts(node.path());
    return joinedParts(parts, parts.size() - 1, '.');
}

std::string moduleOfScope(std::string_view scope) {
    const Parts parts = nameParts(scope);
    return joinedParts(parts, parts.size(), '.');
}

bool repeatsOperator(std::string_view part, std::string_view op) {
    if (!part.starts_with(op)) return false;
    part.remove_prefix(op.size());
    return part.empty() ||
           (part.size() > 1 && part.front() == '_' && std::all_of(part.begin() + 1, part.end(), isDigit));
}

std::vector<std::string> displayNames(const Graph& graph) {
    std::vector<Parts> all;
    all.reserve(graph.nodeCount());
    for (const Node& node : graph.nodes()) all.push_back(nameParts(node.path()));
    dropCommonParts(all);

    // The operator is left out if its module contains nothing else.
    std::unordered_map<std::string, std::size_t> layersIn;
    std::set<std::string> outer;  // modules that contain modules
    for (const Parts& parts : all) {
        ++layersIn[joinedParts(parts, parts.size() - 1, '/')];
        for (std::size_t i = 1; i + 1 < parts.size(); ++i) outer.insert(joinedParts(parts, i, '/'));
    }
    std::vector<GrowingName> candidates;
    candidates.reserve(all.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
        Parts& parts = all[n];
        const Node& node = graph.nodes()[n];
        const std::string module = joinedParts(parts, parts.size() - 1, '/');
        const bool alone = parts.size() > 1 && layersIn[module] == 1 && !outer.contains(module) &&
                           repeatsOperator(parts.back(), node.op) &&
                           module.find_first_not_of("0123456789/") != std::string::npos;
        if (alone) parts.pop_back();
        candidates.emplace_back(node.name, std::move(parts), !alone);
    }
    return uniqueTexts(candidates);
}

LayerNames::LayerNames(GraphPtr graph) : m_graph(std::move(graph)), m_display(displayNames(*m_graph)) {
    m_searched.reserve(m_display.size());
    for (std::size_t n = 0; n < m_display.size(); ++n) {
        const Node& node = m_graph->nodes()[n];
        const Parts parts = nameParts(node.path());
        std::string& searched = m_searched.emplace_back(searchText(m_display[n]));
        for (const std::string& text : {joinedParts(parts, parts.size(), '.'), node.path(), node.name})
            searched += '\n' + searchText(text);
    }
}

std::string LayerNames::of(std::string_view fullName) const {
    const auto node = m_graph ? m_graph->findNode(fullName) : std::nullopt;
    return node ? of(*node) : std::string(fullName);
}

std::string LayerNames::inText(std::string_view message) const {
    if (!m_graph) return std::string(message);
    std::string result;
    for (std::size_t at = 0; at < message.size();) {
        std::string_view word;
        if (beginsWord(message, at)) {
            word = message.substr(at, message.find_first_of(" \n\t", at) - at);
            while (!word.empty() && !m_graph->findNode(word)) {
                const bool punctuation =
                    std::string_view(",;:.)'\"").find(word.back()) != std::string_view::npos;
                word = punctuation ? word.substr(0, word.size() - 1) : std::string_view();
            }
        }
        if (word.empty()) {
            result += message[at++];
        } else {
            result += of(word);
            at += word.size();
        }
    }
    return result;
}

bool LayerNames::matches(NodeId node, std::string_view text) const {
    constexpr std::string_view kEllipsis = "…";
    const std::string wanted = searchText(text);
    std::size_t from = 0, piece = 0;
    const std::string& searched = m_searched[node.index()];
    while (piece <= wanted.size()) {
        const std::size_t end = std::min(wanted.find(kEllipsis, piece), wanted.size());
        const std::size_t found = searched.find(std::string_view(wanted).substr(piece, end - piece), from);
        if (found == std::string::npos) return false;
        from = found + (end - piece);
        piece = end + kEllipsis.size();
    }
    return true;
}

}  // namespace quantloupe
