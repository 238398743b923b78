// SPDX-License-Identifier: Apache-2.0
// Batch-norm folding.
//
// In inference a batch norm is one factor and one shift a channel, which the layer before it (or, where
// nothing is padded, behind it) can hold in its weights and bias: the same function with one node less, and
// the weights that a quantizer will really see. Terms: host, the layer that takes the batch norm over.
// Source: Krishnamoorthi, "Quantizing deep convolutional networks for efficient inference" (2018); the
// float32 arithmetic is that of ONNX Runtime's own fusion and of AIMET. Cost: O(weights). All folds into the
// layer before are done first, then those into the layer behind. A Mul, Add, Sub or Div by a constant for each
// channel that follows a layer is folded the same way: so are batch norms that an exporter wrote as such.
// Weaknesses: not through Flatten, Reshape or Concat, and not into a MatMul, which has no bias.
#include "transform/fold_batch_norm.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "model/graph_builder.h"
#include "transform/batch_norm.h"

namespace quantloupe {
namespace {

bool isHostOp(const Node& node) { return isConvolution(node) || isOp(node, "Gemm") || isOp(node, "MatMul"); }

class Folder {
  public:
    Folder(const Graph& source, const std::vector<std::string>& skip)
        : m_source(source), m_builder(source), m_skip(skip.begin(), skip.end()) {
        m_result.foldedInto.resize(source.nodeCount());
        m_result.notes.resize(source.nodeCount());
        m_result.statistics.resize(source.nodeCount());
    }

    FoldResult fold() {
        std::vector<NodeId> left;
        for (std::size_t i = 0; i < m_source.nodeCount(); ++i) {
            const NodeId id(i);
            if (!isOp(m_source.node(id), "BatchNormalization")) tryAffine(id);
            else if (!tryBefore(id)) left.push_back(id);
        }
        // From the back, so that of two batch norms in a row the second is gone when the first looks behind
        // it.
        for (auto id = left.rbegin(); id != left.rend(); ++id) tryBehind(*id);

        BuiltIds ids;
        m_result.graph = m_builder.build(&ids);
        ids.nodes.resize(m_source.nodeCount());
        m_result.prepared = std::move(ids.nodes);
        return std::move(m_result);
    }

  private:
    /// The node itself, or the layer that it was folded into.
    NodeId resolve(NodeId id) const {
        while (id.valid() && m_result.foldedInto[id.index()].valid()) id = m_result.foldedInto[id.index()];
        return id;
    }

    ConstantPtr constantNow(NodeId host, std::size_t input) {
        const TensorId id = m_builder.node(host).input(input);
        return id.valid() ? m_builder.tensorInfo(id).constant : nullptr;
    }

    bool skipped(NodeId norm, NodeId host) {
        for (const NodeId id : {norm, host}) {
            if (!m_skip.contains(m_source.node(id).name)) continue;
            m_result.notes[norm.index()] =
                fmt::format("not folded: skip_folding names '{}'", m_source.node(id).name);
            return true;
        }
        return false;
    }

    void refuse(NodeId norm, const std::string& reason) {
        std::string& note = m_result.notes[norm.index()];
        note = note.empty() ? "cannot be folded: " + reason : note + "; " + reason;
    }

    /// True if nothing is left to do: folded, or left alone because the person said so.
    bool tryBefore(NodeId id) {
        const Node& node = m_source.node(id);
        if (skipped(id, id)) return true;
        BatchNorm norm;
        if (std::string reason = readBatchNorm(m_source, node, norm); !reason.empty()) {
            refuse(id, reason);
            return true;
        }
        const TensorInfo& input = m_source.tensor(node.input(0));
        const NodeId host = resolve(input.producer);
        if (!host.valid() || !isHostOp(m_source.node(host))) return false;
        if (skipped(id, host)) return true;
        const Node& hostNode = m_builder.node(host);
        if (hostNode.output() != node.input(0)) return false;
        if (input.graphOutput) {
            refuse(id, fmt::format("the output of '{}' is also a graph output", hostNode.name));
            return false;
        }
        if (input.consumers.size() != 1) {
            refuse(id,
                   fmt::format("the output of '{}' has {} readers", hostNode.name, input.consumers.size()));
            return false;
        }
        FoldHost fold;
        if (std::string reason = checkHostBefore(hostNode, hostNode.input(2).valid(), constantNow(host, 1),
                                                 constantNow(host, 2), norm.channels(), fold);
            !reason.empty()) {
            refuse(id, reason);
            return false;
        }
        std::vector<float> weight = foldBefore(fold, norm);
        TensorInfo& output = m_builder.tensorInfo(node.output());
        if (!output.shape) output.shape = input.shape;
        m_builder.node(host).outputs[0] = node.output();
        remember(host, norm);
        replaceConstants(id, host, std::move(fold), std::move(weight));
        return true;
    }

    void tryAffine(NodeId id) {
        const Node& node = m_source.node(id);
        const bool constantFirst = m_source.constantOf(node.input(0)) != nullptr;
        const TensorId in = node.input(constantFirst ? 1 : 0);
        if (!in.valid()) return;
        const TensorInfo& input = m_source.tensor(in);
        const NodeId host = resolve(input.producer);
        if (!host.valid() || !isHostOp(m_source.node(host)) || input.graphOutput || input.consumers.size() != 1) return;
        const Node& hostNode = m_builder.node(host);
        if (hostNode.output() != in || m_skip.contains(node.name) || m_skip.contains(hostNode.name)) return;
        const ConstantPtr weight = constantNow(host, 1);
        const auto layout = weight ? weightLayout(hostNode, weight->dims()) : std::nullopt;
        BatchNorm affine;
        if (!layout || !readAffine(m_source, node, layout->dims.size(), static_cast<std::size_t>(layout->outputs()), affine)) return;
        FoldHost fold;
        if (!checkHostBefore(hostNode, hostNode.input(2).valid(), weight, constantNow(host, 2), affine.channels(), fold).empty())
            return;
        std::vector<float> folded = foldBefore(fold, affine);
        TensorInfo& output = m_builder.tensorInfo(node.output());
        if (!output.shape) output.shape = input.shape;
        m_builder.node(host).outputs[0] = node.output();
        remember(host, affine);
        replaceConstants(id, host, std::move(fold), std::move(folded));
    }

    void tryBehind(NodeId id) {
        const Node& node = m_source.node(id);
        BatchNorm norm;
        readBatchNorm(m_source, node, norm);
        const TensorInfo& output = m_source.tensor(node.output());
        const NodeId reader = m_source.onlyConsumer(node.output());
        const NodeId host = resolve(reader);
        if (!reader.valid()) {
            if (m_result.notes[id.index()].empty())
                refuse(id, output.graphOutput
                               ? "no layer before it, and its output is a graph output"
                               : fmt::format("no layer before it, and its output has {} readers",
                                             output.consumers.size()));
            return;
        }
        const Node& hostNode = m_builder.node(host);
        if (!isHostOp(hostNode) || hostNode.input(0) != node.output() ||
            std::count(hostNode.inputs.begin(), hostNode.inputs.end(), node.output()) != 1) {
            if (m_result.notes[id.index()].empty()) refuse(id, "no Conv, ConvTranspose or Gemm is beside it");
            return;
        }
        if (m_skip.contains(hostNode.name)) {
            m_result.notes[id.index()] = fmt::format("not folded: skip_folding names '{}'", hostNode.name);
            return;
        }
        FoldHost fold;
        if (std::string reason = checkHostBehind(hostNode, hostNode.input(2).valid(), constantNow(host, 1),
                                                 constantNow(host, 2), norm.channels(), fold);
            !reason.empty()) {
            refuse(id, reason);
            return;
        }
        std::vector<float> weight = foldBehind(fold, norm);
        m_builder.node(host).inputs[0] = node.input(0);
        replaceConstants(id, host, std::move(fold), std::move(weight));
    }

    /// The spread of the host's outputs; a second batch norm behind the first transforms it.
    void remember(NodeId host, const BatchNorm& norm) {
        OutputStatistics& statistics = m_result.statistics[host.index()];
        if (!statistics.known() && norm.gamma.empty()) return;
        if (!statistics.known()) {
            statistics = {norm.gamma, norm.beta};
            return;
        }
        for (std::size_t c = 0; c < norm.channels(); ++c) {
            statistics.gamma[c] *= norm.scale[c];
            statistics.beta[c] = norm.beta[c] - (norm.mean[c] - statistics.beta[c]) * norm.scale[c];
        }
    }

    void replaceConstants(NodeId id, NodeId host, FoldHost fold, std::vector<float> weight) {
        // New tensors, since other layers may share the old ones; a second fold changes the first one's.
        const bool first = m_hosts.insert(host).second;
        const auto biasSize = static_cast<std::int64_t>(fold.bias.size());
        const ConstantPtr newWeight = Constant::fromFloats(fold.layout.dims, std::move(weight));
        const ConstantPtr newBias = Constant::fromFloats({biasSize}, std::move(fold.bias));
        if (first) {
            const Node old = m_builder.node(host);
            const std::string weightName = m_builder.tensorInfo(old.input(1)).name + "_folded";
            const std::string biasName = old.input(2).valid()
                                             ? m_builder.tensorInfo(old.input(2)).name + "_folded"
                                             : old.name + ".bias";
            const TensorId weightId =
                m_builder.addConstant(m_builder.unusedTensorName(weightName), newWeight);
            const TensorId biasId = m_builder.addConstant(m_builder.unusedTensorName(biasName), newBias);
            Node& node = m_builder.node(host);
            node.inputs.resize(3);
            node.inputs[1] = weightId;
            node.inputs[2] = biasId;
        } else {
            m_builder.setConstant(m_builder.node(host).input(1), newWeight);
            m_builder.setConstant(m_builder.node(host).input(2), newBias);
        }
        m_builder.removeNode(id);
        m_result.foldedInto[id.index()] = host;
        m_result.notes[id.index()].clear();
        ++m_result.count;
    }

    const Graph& m_source;
    GraphBuilder m_builder;
    std::set<std::string, std::less<>> m_skip;
    std::set<NodeId> m_hosts;  ///< with constants of their own already
    FoldResult m_result;
};

}  // namespace

FoldResult foldBatchNorms(const GraphPtr& source, const std::vector<std::string>& skip) {
    return Folder(*source, skip).fold();
}

}  // namespace quantloupe
