// SPDX-License-Identifier: Apache-2.0
// Simplification: leftovers of exporters hide constants from the quantizer (a weight that passes through a
// Transpose) and pairs from equalization (an Identity between two layers). Moved constants are precomputed in
// every model (foldMovedConstants). Order: constants, then operators without effect, then dead code. One pass
// of each is enough: the later ones produce no new constants except one that is passed on, which is handled.
// Cost: O(nodes) and one run of the constant part. Limitations: shapes are left to the executor, which folds
// them once the batch size is known; results of more than kMaxBytes stay computed if they are larger than the
// constants that they replace.
#include "transform/simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/error.h"
#include "model/graph_builder.h"
#include "model/moved_constants.h"
#include "model/operator_traits.h"
#include "model/reachability.h"
#include "runtime/operators/kernel.h"
#include "runtime/program/program.h"
#include "transform/pass_through.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

enum class Scope {
    MovedConstants,  ///< only moved constants (model/moved_constants.h)
    Activations,     ///< only operators without effect between a layer and its activation
    Everything,
};

class Simplifier {
  public:
    Simplifier(const GraphPtr& source, Scope scope) : m_source(source), m_scope(scope), m_builder(*source) {
        m_result.notes.resize(source->nodeCount());
    }

    SimplifyResult run() {
        if (m_scope != Scope::Activations) foldConstants();
        if (m_scope != Scope::MovedConstants)
            for (std::size_t i = 0; i < m_source->nodeCount(); ++i)
                if (!m_builder.removed(NodeId(i)) && inScope(NodeId(i))) passOn(NodeId(i));
        if (m_scope == Scope::Everything) removeDead();
        BuiltIds ids;
        if (m_result.count == 0) {
            m_result.graph = m_source;
            for (std::size_t i = 0; i < m_source->nodeCount(); ++i) m_result.simplified.emplace_back(i);
            return std::move(m_result);
        }
        m_result.graph = m_builder.build(&ids);
        m_result.simplified = std::move(ids.nodes);
        return std::move(m_result);
    }

  private:
    void remove(NodeId id, std::string why) {
        m_builder.removeNode(id);
        m_result.notes[id.index()] = std::move(why);
        ++m_result.count;
    }

    bool inScope(NodeId id) const {
        if (m_scope == Scope::Everything) return true;
        const Node& node = m_source->node(id);
        if (!isIdentity(*m_source, node) || !node.input(0).valid()) return false;
        const NodeId layer = producerBeyondIdentities(*m_source, node.output());
        const TensorId end = tensorBeyondIdentities(*m_source, node.output());
        const NodeId next = m_source->onlyConsumer(end);
        if (!layer.valid() || !next.valid() || m_source->node(next).input(0) != end) return false;
        return canFuseActivation(m_source->node(layer)) &&
               (isClipping(m_source->node(next)) || isOp(m_source->node(next), "BatchNormalization"));
    }

    bool dependsOnConstantsOnly(const Node& node, const std::vector<bool>& constant) const {
        if (node.inputs.empty() || findOperator(node.domain, node.op) == nullptr) return false;
        if (m_scope == Scope::MovedConstants && !isMove(node) && !assemblesWeights(*m_source, node))
            return false;
        return std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId in) {
            if (!in.valid()) return true;
            const Constant* value = m_source->constantOf(in);
            return value != nullptr ? elementSize(value->type()) > 0 : constant[in.index()];
        });
    }

    bool isGraphOutput(const Node& node) const {
        return std::any_of(node.outputs.begin(), node.outputs.end(),
                           [&](TensorId out) { return out.valid() && m_source->tensor(out).graphOutput; });
    }

    /// Returns the nodes that depend only on constants, except those that the executor refused to compute.
    std::vector<NodeId> foldableNodes(const std::set<NodeId>& refused) const {
        std::vector<bool> constant(m_source->tensorCount(), false);
        std::vector<NodeId> foldable;
        for (std::size_t i = 0; i < m_source->nodeCount(); ++i) {
            const Node& node = m_source->node(NodeId(i));
            // A graph output needs a node that produces it.
            if (refused.contains(NodeId(i)) || !dependsOnConstantsOnly(node, constant) || isGraphOutput(node))
                continue;
            foldable.push_back(NodeId(i));
            for (const TensorId out : node.outputs)
                if (out.valid()) constant[out.index()] = true;
        }
        return foldable;
    }

    /// Returns the outputs of folded nodes that remaining nodes read.
    std::vector<TensorId> outputsNeeded(const std::vector<NodeId>& folded) const {
        std::vector<TensorId> needed;
        const std::set<NodeId> gone(folded.begin(), folded.end());
        for (const NodeId id : folded)
            for (const TensorId out : m_source->node(id).outputs)
                if (out.valid() && std::any_of(m_source->tensor(out).consumers.begin(),
                                               m_source->tensor(out).consumers.end(),
                                               [&](NodeId reader) { return !gone.contains(reader); }))
                    needed.push_back(out);
        return needed;
    }

    void foldConstants() {
        std::set<NodeId> refused;
        std::vector<NodeId> folded = foldableNodes(refused);
        if (folded.empty()) return;
        std::shared_ptr<const Program> program = constantProgram(outputsNeeded(folded));
        if (!program) {
            // A node that the executor cannot compute must not prevent folding the others.
            for (const NodeId id : folded)
                if (!constantProgram(m_source->node(id).outputs)) refused.insert(id);
            program = refold(refused, folded);
        }
        if (program && m_scope == Scope::Everything && isTooMuch(*program, folded)) {
            for (const TensorId tensor : outputsNeeded(folded))
                if (grows(*program, tensor)) refused.insert(m_source->tensor(tensor).producer);
            program = refold(refused, folded);
            if (program && isTooMuch(*program, folded)) return;
        }
        if (!program) return;
        const std::vector<TensorId> needed = outputsNeeded(folded);
        Workspace workspace(program);
        workspace.run();
        for (const TensorId tensor : needed) m_builder.setConstant(tensor, valueOf(workspace, tensor));
        for (const NodeId id : folded) remove(id, "precomputed: all its inputs are constant");
    }

    /// Returns null if nothing remains to be folded.
    std::shared_ptr<const Program> refold(const std::set<NodeId>& refused,
                                          std::vector<NodeId>& folded) const {
        folded = foldableNodes(refused);
        return folded.empty() ? nullptr : constantProgram(outputsNeeded(folded));
    }

    /// The size of the constants that the nodes read.
    std::size_t constantBytes(const std::vector<NodeId>& nodes) const {
        std::size_t bytes = 0;
        for (const NodeId id : nodes)
            for (const TensorId in : m_source->node(id).inputs)
                if (const Constant* value = m_source->constantOf(in)) bytes += value->bytes().size();
        return bytes;
    }

    /// Whether the results need much memory, and more than the constants that they replace.
    bool isTooMuch(const Program& program, const std::vector<NodeId>& folded) const {
        std::size_t bytes = 0;
        for (const TensorId tensor : outputsNeeded(folded)) bytes += program.desc(tensor).bytes();
        return bytes > std::max(kMaxBytes, constantBytes(folded));
    }

    /// Whether a tensor is large, and larger than the constants that it is computed from.
    bool grows(const Program& program, TensorId tensor) const {
        constexpr std::size_t kSmall = std::size_t{1} << 20;
        const NodeSet upstream = upstreamOf(*m_source, std::array{m_source->tensor(tensor).producer});
        std::vector<NodeId> nodes;
        for (std::size_t n = 0; n < upstream.size(); ++n)
            if (upstream[n]) nodes.emplace_back(n);
        return program.desc(tensor).bytes() > std::max(kSmall, constantBytes(nodes));
    }

    /// Returns null if the executor cannot compute one of the tensors.
    std::shared_ptr<const Program> constantProgram(std::vector<TensorId> tensors) const {
        std::erase_if(tensors, [](TensorId tensor) { return !tensor.valid(); });
        try {
            return Program::compile(floatProgram(m_source, {}, std::move(tensors)));
        } catch (const Error&) {
            return nullptr;
        }
    }

    static ConstantPtr valueOf(const Workspace& workspace, TensorId tensor) {
        TensorDesc desc = workspace.program().desc(tensor);
        std::vector<std::byte> bytes(desc.bytes());
        if (bytes.empty()) return Constant::fromBytes(desc.type, desc.dims, std::move(bytes));
        if (desc.layout == Layout::Plain)
            std::memcpy(bytes.data(), workspace.data(tensor), bytes.size());
        else
            convertLayout(desc, workspace.data(tensor), Layout::Plain, bytes.data());
        return Constant::fromBytes(desc.type, std::move(desc.dims), std::move(bytes));
    }

    const Constant* constantNow(TensorId id) {
        return id.valid() ? m_builder.tensorInfo(id).constant.get() : nullptr;
    }

    void passOn(NodeId id) {
        const Node node = m_builder.node(id);
        if (!returnsItsInput(*m_source, node, [this](TensorId tensor) { return constantNow(tensor); }))
            return;
        const TensorId in = node.input(0), out = node.output();
        const TensorInfo read = m_builder.tensorInfo(in), made = m_builder.tensorInfo(out);
        if (!made.graphOutput) {
            m_builder.replaceUses(out, in);
        } else {
            // The graph output keeps its name: its input tensor is renamed to it, unless that must keep its
            // own name.
            if (!read.producer.valid() || m_builder.removed(read.producer) || read.graphOutput ||
                read.graphInput)
                return;
            m_builder.replaceUses(in, out);
            auto& outputs = m_builder.node(read.producer).outputs;
            std::replace(outputs.begin(), outputs.end(), in, out);
            m_builder.tensorInfo(out).producer = read.producer;
        }
        remove(id, fmt::format("removed: this {} passes its input on unchanged", node.op));
    }

    void removeDead() {
        std::vector<bool> needed(m_source->tensorCount(), false);
        for (const TensorId output : m_source->outputs()) needed[output.index()] = true;
        for (std::size_t i = m_source->nodeCount(); i-- > 0;) {
            const NodeId id(i);
            if (m_builder.removed(id)) continue;
            const Node& node = m_builder.node(id);
            const bool alive = std::any_of(node.outputs.begin(), node.outputs.end(),
                                           [&](TensorId out) { return out.valid() && needed[out.index()]; });
            if (!alive) {
                remove(id, "removed: no graph output needs it");
                continue;
            }
            for (const TensorId in : node.inputs)
                if (in.valid()) needed[in.index()] = true;
        }
    }

    GraphPtr m_source;
    Scope m_scope;
    GraphBuilder m_builder;
    SimplifyResult m_result;
};

}  // namespace

bool returnsItsInput(const Graph& graph, const Node& node,
                     const std::function<const Constant*(TensorId)>& constantOf) {
    if (!node.domain.empty() || !node.input(0).valid() || !node.output().valid()) return false;
    if (isIdentity(graph, node)) return true;
    if (node.op == "Concat") return node.inputs.size() == 1;
    if (node.op == "Cast") {
        const DataType from = graph.tensor(node.input(0)).type, to = graph.tensor(node.output()).type;
        return from != DataType::Undefined && from == to;
    }
    if (node.op != "Pad") return false;
    const auto zero = [](std::int64_t value) { return value == 0; };
    if (graph.opset() < 11) {
        const std::vector<std::int64_t> pads = node.attributes.integers("pads");
        return !pads.empty() && std::all_of(pads.begin(), pads.end(), zero);
    }
    const Constant* pads = constantOf(node.input(1));
    if (pads == nullptr) return false;
    const std::vector<std::int64_t> values = pads->toInt64s();
    return std::all_of(values.begin(), values.end(), zero);
}

SimplifyResult simplify(const GraphPtr& source) { return Simplifier(source, Scope::Everything).run(); }

SimplifyResult foldMovedConstants(const GraphPtr& source) {
    return Simplifier(source, Scope::MovedConstants).run();
}

SimplifyResult joinActivations(const GraphPtr& source) {
    return Simplifier(source, Scope::Activations).run();
}

}  // namespace quantloupe
