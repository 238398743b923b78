// SPDX-License-Identifier: Apache-2.0
#include "interchange/clika/clika_names.h"

#include <fmt/format.h>

#include <cctype>

#include "config/near_names.h"

namespace quantloupe {
namespace {

std::string typeOf(const Graph& graph, const Node& node) {
    if (node.op == "Gemm") return "linear";
    if (node.op == "MatMul") return graph.constantOf(node.input(1)) != nullptr ? "linear" : "matmul";
    if (node.op == "GlobalAveragePool") return "adaptive_avg_pool";
    if (node.op == "GlobalMaxPool") return "adaptive_max_pool";
    if (node.op == "AveragePool") return "avg_pool";
    if (node.op == "BatchNormalization") return "batch_norm";
    if (node.op == "LayerNormalization") return "layer_norm";
    std::string name;  // "ConvTranspose" becomes conv_transpose, "GRU" gru
    for (std::size_t i = 0; i < node.op.size(); ++i) {
        const auto c = static_cast<unsigned char>(node.op[i]);
        const bool word =
            i > 0 && std::isupper(c) != 0 &&
            (std::islower(static_cast<unsigned char>(node.op[i - 1])) != 0 ||
             (i + 1 < node.op.size() && std::islower(static_cast<unsigned char>(node.op[i + 1])) != 0 &&
              std::isupper(static_cast<unsigned char>(node.op[i - 1])) != 0));
        if (word) name += '_';
        name += static_cast<char>(std::tolower(c));
    }
    return name;
}

}  // namespace

ClikaNames::ClikaNames(const Graph& graph) : m_graph(graph) {
    std::map<std::string, int> counts;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const std::string type = typeOf(graph, graph.nodes()[n]);
        const int index = counts[type]++;
        m_names.push_back(index == 0 ? type : type + "_" + std::to_string(index));
        m_byName.emplace(m_names.back(), NodeId(n));
    }
}

std::optional<NodeId> ClikaNames::find(const std::string& name) const {
    if (const auto found = m_byName.find(name); found != m_byName.end()) return found->second;
    return m_graph.findNode(name);
}

std::vector<std::string> ClikaNames::near(const std::string& name) const {
    std::vector<std::string> all = m_names;
    for (const Node& node : m_graph.nodes()) all.push_back(node.name);
    return nearNames(all, name, 3);
}

std::string clikaLayerTable(const Graph& graph) {
    const ClikaNames names(graph);
    std::size_t width = 5;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) width = std::max(width, names.of(NodeId(n)).size());
    std::string text =
        fmt::format("{:>6}  {:<{}}  {:<20}  {}\n", "number", "CLIKA", width, "operator", "ONNX");
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        std::string name = graph.nodes()[n].name;
        for (char& c : name)
            if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        text += fmt::format("{:>6}  {:<{}}  {:<20}  {}\n", n + 1, names.of(NodeId(n)), width,
                            graph.nodes()[n].op, name);
    }
    return text;
}

}  // namespace quantloupe
