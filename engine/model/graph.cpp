// SPDX-License-Identifier: Apache-2.0
#include "model/graph.h"

namespace quantloupe {

const TensorInfo Graph::s_omitted{};

std::optional<NodeId> Graph::findNode(std::string_view name) const {
    const auto found = m_nodeByName.find(std::string(name));
    return found == m_nodeByName.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TensorId> Graph::findTensor(std::string_view name) const {
    const auto found = m_tensorByName.find(std::string(name));
    return found == m_tensorByName.end() ? std::nullopt : std::optional(found->second);
}

const Constant* Graph::constantOf(TensorId id) const {
    return id.valid() ? tensor(id).constant.get() : nullptr;
}

NodeId Graph::onlyConsumer(TensorId id) const {
    if (!id.valid()) return {};
    const TensorInfo& info = tensor(id);
    return info.consumers.size() == 1 && !info.graphOutput ? info.consumers.front() : NodeId();
}

std::int64_t Graph::opset() const {
    const auto found = m_facts.opsets.find("");
    return found == m_facts.opsets.end() ? 0 : found->second;
}

}  // namespace quantloupe
