// SPDX-License-Identifier: Apache-2.0
#include "support/small_graph.h"

#include <cmath>

#include "runtime/program/program.h"

namespace quantloupe::test {

GraphPtr graph(const QString& body, int opset) {
    return textModel("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> net " +
                     body.toStdString())
        .graph;
}

std::vector<float> constantOf(const Graph& g, NodeId node, std::size_t input) {
    const Constant* constant = g.constantOf(g.node(node).input(input));
    if (constant == nullptr) return {};
    return {constant->floats().begin(), constant->floats().end()};
}

QString constantText(const Graph& g, const char* node, std::size_t input) {
    const Constant* constant = g.constantOf(g.node(*g.findNode(node)).input(input));
    return constant == nullptr ? "none" : list(constant->floats());
}

QString lines(const std::vector<std::string>& lines) {
    QStringList texts;
    for (const std::string& line : lines) texts << QString::fromStdString(line);
    return texts.join('\n');
}

QString ops(const Graph& g) {
    QStringList names;
    for (const Node& node : g.nodes()) names << QString::fromStdString(node.op);
    return names.join(' ');
}

std::vector<float> run(ProgramSpec spec, const std::vector<float>& input) {
    const GraphPtr graph = spec.graph;
    const auto program = Program::compile(std::move(spec));
    Workspace workspace(program);
    workspace.bind(graph->inputs()[0], input.data());
    workspace.run();
    const TensorDesc& desc = program->desc(graph->outputs()[0]);
    std::vector<float> out(desc.count());
    convertLayout(desc, workspace.data(graph->outputs()[0]), Layout::Plain, out.data());
    return out;
}

std::vector<float> run(const GraphPtr& graph, const Dims& dims, const std::vector<float>& input,
                       std::unordered_map<TensorId, FakeQuant> quantizers) {
    ProgramSpec spec = floatProgram(graph, {{graph->inputs()[0], {DataType::Float32, dims, Layout::Plain}}},
                                    {graph->outputs()[0]});
    spec.quantizers = std::move(quantizers);
    return run(std::move(spec), input);
}

std::vector<float> run(const GraphPtr& graph, const std::vector<float>& input) {
    Dims dims;
    for (const Dim& d : *graph->tensor(graph->inputs()[0]).shape) dims.push_back(d.known() ? d.value : 1);
    return run(graph, dims, input);
}

double deviation(std::span<const float> found, std::span<const float> expected) {
    if (found.size() != expected.size()) return INFINITY;
    double largest = 1e-30, difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
        difference =
            std::max(difference, std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
    }
    return difference / largest;
}

}  // namespace quantloupe::test
