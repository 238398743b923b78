// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/subgraph_body.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "model/subgraphs.h"

namespace quantloupe {

BodyInput bodyInputOf(const NodeContext& context, std::size_t i) {
    BodyInput input{context.input(i), i < context.constants.size() ? context.constants[i] : nullptr};
    input.desc.layout = Layout::Plain;
    return input;
}

BodyInput scalarBodyInput(const Graph& subgraph, std::size_t i, DataType type, std::int64_t value) {
    std::vector<std::byte> bytes(elementSize(type));
    std::memcpy(bytes.data(), &value, bytes.size());  // little endian, as everywhere
    Dims dims;
    if (i < subgraph.inputs().size())
        if (const auto& shape = subgraph.tensor(subgraph.inputs()[i]).shape; shape && shape->size() == 1)
            dims = {1};
    const ConstantPtr constant = Constant::fromBytes(type, std::move(dims), std::move(bytes));
    return {{type, constant->dims(), Layout::Plain}, constant};
}

Body::Body(GraphPtr owner, std::vector<BodyInput> inputs, std::int64_t exportOpset)
    : m_inputs(std::move(inputs)) {
    const Graph& graph = *owner;
    if (graph.inputs().size() != m_inputs.size())
        failInput("its subgraph '{}' has {} inputs, but gets {}", graph.facts().graphName,
                  graph.inputs().size(), m_inputs.size());
    ProgramSpec spec;
    spec.exportOpset = exportOpset;
    spec.observed.assign(graph.outputs().begin(), graph.outputs().end());
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
        if (m_inputs[i].value)
            spec.constants[graph.inputs()[i]] = m_inputs[i].value;
        else
            spec.inputs[graph.inputs()[i]] = m_inputs[i].desc;
    }
    m_outputs = spec.observed;
    m_graphInputs.assign(graph.inputs().begin(), graph.inputs().end());
    spec.graph = std::move(owner);
    m_program = Program::compile(std::move(spec));
}

TensorDesc Body::desc(std::size_t o) const {
    TensorDesc desc = m_program->desc(m_outputs[o]);
    desc.layout = Layout::Plain;
    return desc;
}

void Body::run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) const {
    Workspace workspace(m_program);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!m_inputs[i].value) workspace.bind(m_graphInputs[i], inputs[i]);
    workspace.run();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        if (outputs[o] == nullptr) continue;
        const TensorDesc& from = m_program->desc(m_outputs[o]);
        if (from.count() > 0) convertLayout(from, workspace.data(m_outputs[o]), Layout::Plain, outputs[o]);
    }
}

Subgraph subgraphOf(const NodeContext& context, const char* name) {
    const auto all = capturedNames(context.node.attributes);
    const std::size_t formal = context.node.inputs.size() - all.size();
    for (const auto& [key, value] : context.node.attributes) {
        const auto* opaque = std::get_if<OpaqueAttribute>(&value);
        if (key != name || opaque == nullptr || !opaque->graph) continue;
        Subgraph subgraph{opaque->graph, {}};
        for (const std::string& captured : opaque->captures)
            subgraph.captured.push_back(
                formal +
                static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), captured) - all.begin()));
        return subgraph;
    }
    failInput("{} has no subgraph '{}'", context.node.op, name);
}

Body makeBody(const Subgraph& subgraph, std::vector<BodyInput> own, const NodeContext& context) {
    for (const std::size_t i : subgraph.captured) own.push_back(bodyInputOf(context, i));
    return Body(subgraph.graph, std::move(own), context.exportOpset);
}

}  // namespace quantloupe
