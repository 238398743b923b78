// SPDX-License-Identifier: Apache-2.0
#include "model/graph_builder.h"

#include <algorithm>
#include <queue>

#include "base/error.h"

namespace quantloupe {
namespace {

Version hashOf(std::span<const Node> nodes, std::span<const TensorInfo> tensors,
               std::span<const TensorId> inputs, std::span<const TensorId> outputs, const ModelFacts& facts) {
    VersionBuilder builder;
    for (const auto& [domain, version] : facts.opsets) builder.add(std::string_view(domain)).add(version);
    for (const auto& ids : {inputs, outputs}) {
        builder.add(ids.size());
        for (const TensorId id : ids) builder.add(std::string_view(tensors[id.index()].name));
    }
    for (const Node& node : nodes) {
        builder.add(std::string_view(node.name))
            .add(std::string_view(node.op))
            .add(std::string_view(node.domain));
        if (!node.modulePath.empty()) builder.add(std::string_view(node.modulePath));
        for (const auto* ids : {&node.inputs, &node.outputs}) {
            builder.add(ids->size());
            for (const TensorId id : *ids) {
                builder.add(id.valid() ? std::string_view(tensors[id.index()].name) : std::string_view());
                if (id.valid() && tensors[id.index()].constant)
                    builder.add(tensors[id.index()].constant->version());
            }
        }
        node.attributes.addTo(builder);
    }
    return builder.finish();
}

}  // namespace

GraphBuilder::GraphBuilder(const Graph& source)
    : m_nodes(source.nodes().begin(), source.nodes().end()),
      m_removed(source.nodeCount(), 0),
      m_tensors(source.tensors().begin(), source.tensors().end()),
      m_inputs(source.inputs().begin(), source.inputs().end()),
      m_outputs(source.outputs().begin(), source.outputs().end()),
      m_facts(source.facts()) {
    for (std::size_t i = 0; i < m_tensors.size(); ++i) m_tensorByName.emplace(m_tensors[i].name, TensorId(i));
}

TensorId GraphBuilder::tensor(const std::string& name) {
    const auto [entry, isNew] = m_tensorByName.try_emplace(name, TensorId(m_tensors.size()));
    if (isNew) {
        m_tensors.emplace_back();
        m_tensors.back().name = name;
    }
    return entry->second;
}

std::string GraphBuilder::unusedTensorName(const std::string& stem) {
    if (!m_tensorByName.contains(stem)) return stem;
    int& number = m_nextNumber.try_emplace(stem, 1).first->second;
    std::string name = fmt::format("{}_{}", stem, number);
    while (m_tensorByName.contains(name)) name = fmt::format("{}_{}", stem, ++number);
    return name;
}

TensorId GraphBuilder::addConstant(const std::string& name, ConstantPtr value) {
    const TensorId id = tensor(name);
    setConstant(id, std::move(value));
    return id;
}

void GraphBuilder::setConstant(TensorId id, ConstantPtr value) {
    TensorInfo& info = tensorInfo(id);
    info.type = value->type();
    Shape shape;
    for (const std::int64_t dim : value->dims()) shape.push_back({dim, {}});
    info.shape = std::move(shape);
    info.constant = std::move(value);
}

void GraphBuilder::addInput(TensorId id, DataType type, std::optional<Shape> shape) {
    TensorInfo& info = tensorInfo(id);
    info.type = type;
    info.shape = std::move(shape);
    info.graphInput = true;
    m_inputs.push_back(id);
}

void GraphBuilder::addOutput(TensorId id) {
    tensorInfo(id).graphOutput = true;
    m_outputs.push_back(id);
}

std::string GraphBuilder::unusedNodeName(const std::string& stem) {
    if (m_nodeNames.empty())
        for (const Node& node : m_nodes) m_nodeNames.insert(node.name);
    std::string name = stem;
    for (int i = 1; m_nodeNames.contains(name); ++i) name = fmt::format("{}_{}", stem, i);
    return name;
}

NodeId GraphBuilder::addNode(Node node) {
    if (!m_nodeNames.empty()) m_nodeNames.insert(node.name);
    m_nodes.push_back(std::move(node));
    m_removed.push_back(0);
    return NodeId(m_nodes.size() - 1);
}

void GraphBuilder::replaceUses(TensorId from, TensorId to) {
    for (Node& node : m_nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

std::vector<NodeId> GraphBuilder::findProducers() const {
    std::vector<NodeId> producer(m_tensors.size());
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
        if (m_removed[n]) continue;
        for (const TensorId out : m_nodes[n].outputs) {
            if (!out.valid()) continue;
            const TensorInfo& info = m_tensors[out.index()];
            if (producer[out.index()].valid())
                failInput("tensor '{}' is produced by two nodes, '{}' and '{}'", info.name,
                          m_nodes[producer[out.index()].index()].name, m_nodes[n].name);
            if (info.constant || info.graphInput)
                failInput("node '{}' overwrites '{}', which is {}", m_nodes[n].name, info.name,
                          info.constant ? "an initializer" : "a graph input");
            producer[out.index()] = NodeId(n);
        }
    }
    return producer;
}

std::vector<std::size_t> GraphBuilder::sortedNodes(const std::vector<NodeId>& producer) const {
    std::vector<std::size_t> waiting(m_nodes.size(), 0);
    std::vector<std::vector<std::size_t>> readers(m_nodes.size());
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
        if (m_removed[n]) continue;
        for (const TensorId in : m_nodes[n].inputs) {
            if (!in.valid()) continue;
            const TensorInfo& info = m_tensors[in.index()];
            if (producer[in.index()].valid()) {
                readers[producer[in.index()].index()].push_back(n);
                ++waiting[n];
            } else if (!info.constant && !info.graphInput) {
                failInput("node '{}' reads the tensor '{}', which no node, input or initializer provides",
                          m_nodes[n].name, info.name);
            }
        }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    std::size_t kept = 0;
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
        if (m_removed[n]) continue;
        ++kept;
        if (waiting[n] == 0) ready.push(n);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t n = ready.top();
        ready.pop();
        order.push_back(n);
        for (const std::size_t reader : readers[n])
            if (--waiting[reader] == 0) ready.push(reader);
    }
    if (order.size() != kept) {
        const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t w) { return w > 0; });
        failInput("the graph has a cycle through node '{}'",
                  m_nodes[static_cast<std::size_t>(stuck - waiting.begin())].name);
    }
    return order;
}

std::vector<char> GraphBuilder::referencedTensors(const std::vector<std::size_t>& order,
                                                  const std::vector<NodeId>& producer) const {
    std::vector<char> used(m_tensors.size(), 0);
    for (const TensorId id : m_inputs) used[id.index()] = 1;
    for (const TensorId id : m_outputs) {
        used[id.index()] = 1;
        const TensorInfo& info = m_tensors[id.index()];
        if (!producer[id.index()].valid() && !info.constant && !info.graphInput)
            failInput("the graph output '{}' is not produced by any node", info.name);
    }
    for (const std::size_t n : order) {
        for (const TensorId id : m_nodes[n].inputs)
            if (id.valid()) used[id.index()] = 1;
        for (const TensorId id : m_nodes[n].outputs)
            if (id.valid()) used[id.index()] = 1;
    }
    return used;
}

GraphPtr GraphBuilder::build(BuiltIds* ids) {
    const std::vector<NodeId> producer = findProducers();
    const std::vector<std::size_t> order = sortedNodes(producer);
    const std::vector<char> used = referencedTensors(order, producer);
    BuiltIds map{std::vector<NodeId>(m_nodes.size()), std::vector<TensorId>(m_tensors.size())};
    auto graph = std::make_shared<Graph>();
    for (std::size_t t = 0; t < m_tensors.size(); ++t) {
        if (!used[t]) continue;
        map.tensors[t] = TensorId(graph->m_tensors.size());
        graph->m_tensors.push_back(m_tensors[t]);
        graph->m_tensors.back().consumers.clear();
        graph->m_tensors.back().producer = {};
        graph->m_tensorByName.emplace(m_tensors[t].name, map.tensors[t]);
    }
    const auto translate = [&](std::vector<TensorId>& list) {
        for (TensorId& id : list)
            if (id.valid()) id = map.tensors[id.index()];
    };
    for (const std::size_t n : order) {
        const NodeId id(graph->m_nodes.size());
        map.nodes[n] = id;
        graph->m_nodes.push_back(m_nodes[n]);
        Node& node = graph->m_nodes.back();
        translate(node.inputs);
        translate(node.outputs);
        if (!graph->m_nodeByName.emplace(node.name, id).second)
            fail(ErrorKind::Internal, "two nodes are called '{}'", node.name);
        for (const TensorId in : node.inputs) {
            if (!in.valid()) continue;
            auto& consumers = graph->m_tensors[in.index()].consumers;
            if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
        }
        for (const TensorId out : node.outputs)
            if (out.valid()) graph->m_tensors[out.index()].producer = id;
    }
    graph->m_inputs = m_inputs;
    graph->m_outputs = m_outputs;
    translate(graph->m_inputs);
    translate(graph->m_outputs);
    graph->m_facts = m_facts;
    graph->m_version = hashOf(graph->m_nodes, graph->m_tensors, graph->m_inputs, graph->m_outputs, m_facts);
    if (ids != nullptr) *ids = std::move(map);
    return graph;
}

}  // namespace quantloupe
