// SPDX-License-Identifier: Apache-2.0
#include "models/block_roles.h"

#include <algorithm>
#include <map>

#include "model/layer_names.h"

namespace quantloupe::ui {

namespace {

bool isNumber(const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

QString lastParts(const RoleParts& parts, std::size_t count) {
    QString text;
    for (std::size_t i = parts.size() - count; i < parts.size(); ++i) {
        if (!text.isEmpty()) text += QLatin1Char('/');
        text += QString::fromStdString(parts[i]);
    }
    return text;
}

/// Returns the index of each text that occurs more than once.
std::vector<std::size_t> repeated(const std::vector<QString>& texts) {
    std::map<QString, int> counts;
    for (const QString& text : texts) ++counts[text];
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (counts[texts[i]] > 1) indices.push_back(i);
    return indices;
}

/// Returns "_proj" of "q_proj"; empty if the ending is a number or everything.
QString endingOf(const QString& name) {
    const qsizetype at = name.lastIndexOf(QLatin1Char('_'));
    return at > 0 && at + 1 < name.size() && name[at + 1].isLetter() ? name.mid(at) : QString();
}

/// Removes the last parts that all roles share.
void dropCommonParts(std::vector<RoleParts>& roles) {
    const auto endsAlike = [&](const RoleParts& role) {
        return role.size() > 1 && role.back() == roles.front().back();
    };
    while (!roles.empty() && std::ranges::all_of(roles, endsAlike))
        for (RoleParts& role : roles) role.pop_back();
}

void dropSharedEndings(std::vector<QString>& names) {
    std::map<QString, std::vector<std::size_t>> withEnding;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (const QString ending = endingOf(names[i]); !ending.isEmpty()) withEnding[ending].push_back(i);
    for (const auto& [ending, indices] : withEnding) {
        if (indices.size() < 2) continue;
        std::vector<QString> shorter = names;
        for (const std::size_t i : indices) shorter[i].chop(ending.size());
        if (repeated(shorter).empty()) names = std::move(shorter);
    }
}

}  // namespace

std::vector<RoleParts> rolesIn(const Graph& graph, const std::string& scope,
                               const std::vector<NodeId>& layers) {
    const std::string last = scope.substr(scope.rfind('/') + 1) + '.';
    std::vector<RoleParts> roles(layers.size());
    std::map<RoleParts, std::vector<std::size_t>> inModule;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Node& node = graph.node(layers[i]);
        if (scope.empty()) {
            inModule[{node.op}].push_back(i);
            continue;
        }
        for (const std::string_view part : nameParts(std::string_view(node.path()).substr(scope.size() + 1)))
            roles[i].emplace_back(part);
        // Exporters repeat the block's name: "/features.18/features.18.0".
        if (std::string& first = roles[i].front(); first.size() > last.size() && first.starts_with(last))
            first.erase(0, last.size());
        if (!repeatsOperator(roles[i].back(), node.op)) continue;
        RoleParts module = roles[i];
        module.back() = node.op;
        inModule[module].push_back(i);
    }
    for (const auto& [module, indices] : inModule)
        for (std::size_t k = 0; k < indices.size(); ++k) {
            RoleParts& role = roles[indices[k]] = module;
            if (indices.size() > 1)
                role.back() += ' ' + std::to_string(k + 1);
            else if (module.size() > 1)
                role.pop_back();
        }
    return roles;
}

std::vector<QString> roleNames(std::vector<RoleParts> roles) {
    dropCommonParts(roles);
    std::vector<std::size_t> shown(roles.size(), 1);
    std::vector<QString> names(roles.size());
    const auto name = [&](std::size_t i) {
        // A bare number says nothing without the part before.
        std::size_t& count = shown[i];
        while (count < roles[i].size() && isNumber(roles[i][roles[i].size() - count])) ++count;
        names[i] = lastParts(roles[i], count);
    };
    for (std::size_t i = 0; i < roles.size(); ++i) name(i);
    for (bool grown = true; grown;) {
        grown = false;
        for (const std::size_t i : repeated(names)) {
            if (shown[i] == roles[i].size()) continue;
            ++shown[i];
            name(i);
            grown = true;
        }
    }
    dropSharedEndings(names);
    return names;
}

}  // namespace quantloupe::ui
