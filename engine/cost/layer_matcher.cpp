// SPDX-License-Identifier: Apache-2.0
#include "cost/layer_matcher.h"

#include <algorithm>
#include <set>

#include "model/reachability.h"

namespace quantloupe {
namespace {

bool isAlphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string sanitized(std::string_view text) {
    std::string made(text);
    std::ranges::replace_if(
        made, [](char c) { return !isAlphanumeric(c); }, '_');
    return made;
}

struct NameToken {
    std::string_view text;
    bool range = false;  ///< includes the layers up to the next token: "A...B"
};

std::vector<NameToken> tokensOf(std::string_view text) {
    constexpr std::string_view kSeparators = " +,()[]{}|\t";
    std::vector<NameToken> tokens;
    const auto add = [&](std::string_view part, bool range) {
        if (!part.empty()) tokens.push_back({part, range});
    };
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
        std::string_view part = text.substr(begin, end - begin);
        for (auto dots = part.find("..."); dots != std::string_view::npos; dots = part.find("...")) {
            add(part.substr(0, dots), true);
            part.remove_prefix(dots + 3);
        }
        add(part, false);
        begin = end + 1;
    }
    return tokens;
}

}  // namespace

LayerMatcher::LayerMatcher(const Graph& source, const NetworkWork& work) : m_graph(source) {
    for (const LayerWork& layer : work) m_hosts.push_back(layer.host);
    for (std::size_t n = 0; n < source.nodeCount(); ++n) add(source.nodes()[n].name, n);
    for (const TensorInfo& tensor : source.tensors()) {
        if (tensor.producer.valid())
            add(tensor.name, tensor.producer.index());
        else if (!tensor.consumers.empty())
            add(tensor.name, tensor.consumers.front().index());
    }
}

void LayerMatcher::add(const std::string& name, std::size_t node) {
    m_longest = std::max(m_longest, name.size());
    m_names.try_emplace(name, node);
    m_sanitized.try_emplace(sanitized(name), node);
}

/// Finds the longest prefix of the text that is a name and is not followed by a letter or digit.
std::optional<std::size_t> LayerMatcher::nodeOf(std::string_view text) const {
    const auto longest = [this](const Names& names, const std::string& whole) -> std::optional<std::size_t> {
        for (std::size_t length = std::min(whole.size(), m_longest); length > 0; --length) {
            if (length < whole.size() && isAlphanumeric(whole[length])) continue;
            if (const auto found = names.find(whole.substr(0, length)); found != names.end())
                return found->second;
        }
        return std::nullopt;
    };
    if (const auto found = longest(m_names, std::string(text))) return found;
    return longest(m_sanitized, sanitized(text));
}

std::vector<std::size_t> LayerMatcher::match(std::string_view recorded) const {
    std::set<std::size_t> hosts;
    const auto addNode = [&](std::size_t node) { hosts.insert(m_hosts[node]); };
    if (const auto exact = m_names.find(std::string(recorded)); exact != m_names.end()) {
        addNode(exact->second);
        return {hosts.begin(), hosts.end()};
    }
    std::optional<std::size_t> from;
    for (const NameToken& token : tokensOf(recorded)) {
        const auto node = nodeOf(token.text);
        if (node) addNode(*node);
        if (from && node) {
            const NodeSet inside = between(m_graph, NodeId(*from), NodeId(*node));
            for (std::size_t n = 0; n < inside.size(); ++n)
                if (inside[n]) addNode(n);
        }
        from = token.range ? node : std::nullopt;
    }
    if (hosts.empty())
        if (const auto node = nodeOf(recorded)) addNode(*node);
    return {hosts.begin(), hosts.end()};
}

}  // namespace quantloupe
