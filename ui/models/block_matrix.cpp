// SPDX-License-Identifier: Apache-2.0
#include "models/block_matrix.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/blocks.h"
#include "model/layer_names.h"
#include "model/operator_traits.h"
#include "models/block_roles.h"
#include "picture/groups.h"
#include "style/path_text.h"

namespace quantloupe::ui {

namespace {

constexpr std::size_t kFewestBlocks = 3, kFewestRoles = 2;

/// A role with its operator: blocks are only alike if both are equal.
using Role = std::pair<RoleParts, std::string>;

struct Candidate {
    std::string name;  ///< the scope, or the name of the group
    std::vector<NodeId> layers;
    std::vector<Role> roles;  ///< of the layers
};
using Family = std::vector<Candidate>;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isWeighted(const Graph& graph, const Node& node) {
    return multipliesWeight(node) && std::ranges::any_of(node.inputs, [&](TensorId input) {
               return input.valid() && graph.constantOf(input) != nullptr;
           });
}

/// Replaces each number by `*`.
std::string patternOf(std::string_view scope) {
    std::string pattern;
    for (const char c : scope)
        if (!isDigit(c))
            pattern += c;
        else if (pattern.empty() || pattern.back() != '*')
            pattern += '*';
    return pattern;
}

std::vector<Family> familiesByScope(const Graph& graph) {
    std::map<std::string, std::map<std::string_view, std::size_t>> places;
    std::map<std::string, Family> families;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const Node& node = graph.nodes()[n];
        if (!isWeighted(graph, node)) continue;
        for (const std::string_view scope : scopesOf(node.path())) {
            if (!isDigit(scope.back()) || scope.size() + 1 == node.path().size()) continue;
            const std::string pattern = patternOf(scope);
            Family& family = families[pattern];
            const auto [at, isNew] = places[pattern].emplace(scope, family.size());
            if (isNew) family.push_back({std::string(scope), {}, {}});
            family[at->second].layers.push_back(NodeId(n));
        }
    }
    std::vector<Family> found;
    for (auto& [pattern, family] : families)
        if (family.size() >= kFewestBlocks) found.push_back(std::move(family));
    return found;
}

/// For a network without scopes: its parts between waists. Those with the same operators are a family, so
/// that attentions and the matrix products between them do not share columns.
std::vector<Family> familiesByStructure(const Graph& graph) {
    std::map<std::set<std::string>, Family> families;
    for (const Group& group : findGroups(graph)) {
        if (group.shape || group.name.find('/') != std::string::npos) continue;
        Candidate candidate{group.name.substr(0, group.name.find(" (")), {}, {}};
        std::set<std::string> operators;
        for (const NodeId node : group.nodes) {
            operators.insert(graph.node(node).op);
            if (isWeighted(graph, graph.node(node))) candidate.layers.push_back(node);
        }
        if (!candidate.layers.empty()) families[operators].push_back(std::move(candidate));
    }
    std::vector<Family> found;
    for (auto& [operators, family] : families) found.push_back(std::move(family));
    return found;
}

/// The roles that most blocks of the family have; empty if too few of them are alike.
std::vector<Role> commonRoles(const Family& family) {
    std::map<std::vector<Role>, std::size_t> counts;
    for (const Candidate& candidate : family) ++counts[candidate.roles];
    std::vector<Role> best;
    std::size_t most = 0;
    for (const auto& [roles, count] : counts)
        if (count >= kFewestBlocks && roles.size() >= kFewestRoles && count * roles.size() > most)
            most = count * roles.size(), best = roles;
    return best;
}

/// Removes the blocks that lack one of the common roles. Returns whether enough are left.
bool keepAlike(Family& family) {
    const std::vector<Role> common = commonRoles(family);
    if (common.empty()) return false;
    std::erase_if(family, [&](const Candidate& candidate) {
        const std::set<Role> own(candidate.roles.begin(), candidate.roles.end());
        return !std::ranges::all_of(common, [&](const Role& role) { return own.contains(role); });
    });
    return true;
}

/// The roles of all blocks, in the order in which the blocks have them.
std::vector<Role> allRoles(const Family& family) {
    std::vector<Role> all;
    for (const Candidate& candidate : family) {
        auto place = all.begin();
        for (const Role& role : candidate.roles) {
            auto at = std::ranges::find(all, role);
            if (at == all.end()) at = all.insert(place, role);
            place = at + 1;
        }
    }
    return all;
}

/// How much a matrix shows: its layers, less its empty cells.
std::ptrdiff_t worthOf(const Family& family) {
    std::ptrdiff_t layers = 0;
    for (const Candidate& candidate : family) layers += std::ssize(candidate.layers);
    return 2 * layers - std::ssize(family) * std::ssize(allRoles(family));
}

/// Returns the parts of the blocks' names that distinguish them, and the one before a bare number.
std::vector<QString> blockNames(const Family& family) {
    std::size_t common = 64;
    const std::vector<std::string_view> first = nameParts(family.front().name);
    for (const Candidate& candidate : family) {
        const std::vector<std::string_view> parts = nameParts(candidate.name);
        const auto differs = std::ranges::mismatch(parts, first).in1;
        common = std::min(common, static_cast<std::size_t>(differs - parts.begin()));
    }
    if (common > 0 && common < first.size() && std::ranges::all_of(first[common], isDigit)) --common;
    std::vector<QString> names;
    for (const Candidate& candidate : family) {
        QString name;
        const std::vector<std::string_view> parts = nameParts(candidate.name);
        for (std::size_t i = common; i < parts.size(); ++i) {
            if (!name.isEmpty()) name += QLatin1Char('/');
            name += viewText(parts[i]);
        }
        names.push_back(name);
    }
    return names;
}

QString titleOf(const Family& family) {
    QString title;
    for (const std::string_view part : nameParts(family.front().name)) {
        if (!title.isEmpty()) title += QLatin1Char('/');
        title += QString::fromStdString(patternOf(part));
    }
    return title;
}

BlockMatrix matrixOf(const Family& family) {
    BlockMatrix matrix;
    matrix.title = titleOf(family);
    matrix.blocks = blockNames(family);
    const std::vector<Role> roles = allRoles(family);
    std::vector<RoleParts> parts;
    for (const auto& [role, op] : roles) parts.push_back(role);
    matrix.roles = roleNames(parts);
    matrix.layers.resize(family.size() * roles.size());
    for (std::size_t row = 0; row < family.size(); ++row)
        for (std::size_t i = 0; i < family[row].layers.size(); ++i) {
            const auto role = std::ranges::find(roles, family[row].roles[i]) - roles.begin();
            matrix.layers[row * roles.size() + static_cast<std::size_t>(role)] = family[row].layers[i];
        }
    return matrix;
}

/// Keeps the families that show most, without layers that an earlier one contains.
std::vector<Family> withoutOverlap(std::vector<Family> families) {
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;
    for (std::size_t f = 0; f < families.size(); ++f) order.emplace_back(-worthOf(families[f]), f);
    std::ranges::sort(order);
    std::set<NodeId> used;
    std::vector<Family> kept;
    for (const auto& [worth, f] : order) {
        Family& family = families[f];
        std::erase_if(family, [&](const Candidate& candidate) {
            return std::ranges::any_of(candidate.layers, [&](NodeId n) { return used.contains(n); });
        });
        if (!keepAlike(family)) continue;
        for (const Candidate& candidate : family)
            used.insert(candidate.layers.begin(), candidate.layers.end());
        kept.push_back(std::move(family));
    }
    std::ranges::sort(kept, {}, [](const Family& family) { return family.front().layers.front(); });
    return kept;
}

}  // namespace

std::vector<BlockMatrix> blockMatrices(const Graph& graph) {
    std::vector<Family> families = familiesByScope(graph);
    const bool scopes = !families.empty();
    if (!scopes) families = familiesByStructure(graph);
    for (Family& family : families)
        for (Candidate& candidate : family) {
            const auto roles = rolesIn(graph, scopes ? candidate.name : std::string(), candidate.layers);
            for (std::size_t i = 0; i < roles.size(); ++i)
                candidate.roles.emplace_back(roles[i], graph.node(candidate.layers[i]).op);
        }
    std::erase_if(families, [](Family& family) { return !keepAlike(family); });
    std::vector<BlockMatrix> matrices;
    for (const Family& family : withoutOverlap(std::move(families))) matrices.push_back(matrixOf(family));
    std::map<QString, std::size_t> titles;
    for (const BlockMatrix& matrix : matrices) ++titles[matrix.title];
    for (BlockMatrix& matrix : matrices)
        if (titles[matrix.title] > 1)
            matrix.title = matrix.blocks.front() + QStringLiteral(" \u2026 ") + matrix.blocks.back();
    return matrices;
}

}  // namespace quantloupe::ui
