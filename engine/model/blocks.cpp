// SPDX-License-Identifier: Apache-2.0
#include "model/blocks.h"

#include <algorithm>
#include <map>

#include "model/layer_names.h"

namespace quantloupe {
namespace {

/// The first `parts` parts of a name, or empty if it has no more parts than that.
std::string_view scopeOf(std::string_view name, std::size_t parts) {
    std::size_t end = 0;
    for (std::size_t p = 0; p < parts; ++p) {
        end = name.find('/', end + (p == 0 && name.starts_with('/') ? 1 : p > 0 ? 1 : 0));
        if (end == std::string_view::npos) return {};
    }
    return name.substr(0, end);
}

std::size_t partsOf(std::string_view scope) {
    return static_cast<std::size_t>(
               std::count(scope.begin() + (scope.starts_with('/') ? 1 : 0), scope.end(), '/')) +
           1;
}

}  // namespace

std::vector<std::string_view> scopesOf(std::string_view path) {
    constexpr std::size_t kDeepest = 64, kLongest = 1000;
    std::vector<std::string_view> scopes;
    for (std::size_t end = path.find('/', 1); end < kLongest && scopes.size() < kDeepest;
         end = path.find('/', end + 1))
        scopes.push_back(path.substr(0, end));
    return scopes;
}

Version blockShape(const Graph& graph, const Block& block) {
    VersionBuilder builder;
    std::map<TensorId, std::size_t> known;  // tensors in the order of their first use in the block
    for (const NodeId id : block.nodes) {
        const Node& node = graph.node(id);
        builder.add(std::string_view(node.domain)).add(std::string_view(node.op));
        for (const auto& [name, value] : node.attributes) {
            builder.add(std::string_view(name));
            if (const auto* groups = std::get_if<std::int64_t>(&value); groups != nullptr && name == "group")
                builder.add(*groups > 1);
            else
                builder.add(std::string_view(toString(value)));
        }
        for (const TensorId input : node.inputs) {
            const Constant* constant = graph.constantOf(input);
            builder.add(!input.valid() ? 'o' : constant != nullptr ? 'c' : 't');
            if (constant != nullptr)
                builder.add(constant->dims().size());
            else if (input.valid())
                builder.add(known.emplace(input, known.size()).first->second);
        }
        for (const TensorId output : node.outputs)
            if (output.valid()) builder.add(known.emplace(output, known.size()).first->second);
    }
    return builder.finish();
}

namespace {

/// Returns the scope of a module that is given by its path ("features.3"); the text itself if there is none.
std::string scopeOfModule(const Graph& graph, const std::string& text) {
    if (text.find('/') != std::string::npos || graph.findNode(text)) return text;
    for (const Node& node : graph.nodes())
        for (const std::string_view scope : scopesOf(node.path()))
            if (scope.size() > text.size() && moduleOfScope(scope) == text) return std::string(scope);
    return text;
}

}  // namespace

std::vector<Block> blocksLike(const Graph& graph, const std::string& module) {
    const std::string scope = scopeOfModule(graph, module);
    std::vector<Block> candidates;
    if (graph.findNode(scope)) {
        for (std::size_t n = 0; n < graph.nodeCount(); ++n)
            candidates.push_back({graph.nodes()[n].name, {NodeId(n)}});
    } else {
        std::map<std::string_view, std::size_t> indices;
        const std::size_t parts = partsOf(scope);
        for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
            const std::string_view own = scopeOf(graph.nodes()[n].path(), parts);
            if (own.empty()) continue;
            const auto [at, isNew] = indices.emplace(own, candidates.size());
            if (isNew) candidates.push_back({std::string(own), {}});
            candidates[at->second].nodes.push_back(NodeId(n));
        }
    }
    const auto original =
        std::find_if(candidates.begin(), candidates.end(), [&](const Block& b) { return b.scope == scope; });
    if (original == candidates.end()) return {};
    const Version shape = blockShape(graph, *original);
    std::vector<Block> alike{*original};
    for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate)
        if (candidate != original && candidate->nodes.size() == alike[0].nodes.size() &&
            blockShape(graph, *candidate) == shape)
            alike.push_back(*candidate);
    return alike;
}

}  // namespace quantloupe
