// SPDX-License-Identifier: Apache-2.0
// Batch-norm folding.
//
// In inference, a batch norm is one factor and one shift per channel, which can be folded into the weights
// and bias of the layer before it (or, without padding, after it): the same function with one fewer node, and
// the weights that a quantizer will actually see. Terms: host, the layer that the batch norm is folded into.
// Source: Krishnamoorthi, "Quantizing deep convolutional networks for efficient inference" (2018); the
// float32 arithmetic is that of ONNX Runtime's own fusion and of AIMET. Cost: O(weights). All folds into the
// layer before are done first, then those into the layer after. A Mul, Add, Sub or Div by a constant per
// channel after a layer is folded in the same way, which includes batch norms that an exporter wrote in this
// form. Between layer and batch norm values may be rearranged (transform/channel_path.h), and layers may be
// joined by a Concat: each gets its part (transform/fold_sources.h). A MatMul has no bias: the shift is added
// to the Add after it, or the batch norm's node is replaced by such an Add. Limitation: does not fold through
// pooling, Pad or sums of branches, and not into a following layer with padding or groups.
#include "transform/fold_batch_norm.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "transform/batch_norm.h"
#include "transform/fold_sources.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

class Folder {
  public:
    Folder(const Graph& source, const std::vector<std::string>& skip)
        : m_source(source), m_builder(source), m_skip(skip.begin(), skip.end()) {
        m_result.foldedInto.resize(source.nodeCount());
        m_result.notes.resize(source.nodeCount());
        m_result.statistics.resize(source.nodeCount());
        m_producers.reserve(source.tensorCount());
        for (const TensorInfo& tensor : source.tensors()) m_producers.push_back(tensor.producer);
    }

    FoldResult fold() {
        std::vector<NodeId> left;
        for (std::size_t i = 0; i < m_source.nodeCount(); ++i) {
            const NodeId id(i);
            if (!isOp(m_source.node(id), "BatchNormalization"))
                tryAffine(id);
            else if (!tryBefore(id))
                left.push_back(id);
        }
        // In reverse order, so that of two consecutive batch norms the second is already folded when the
        // first looks for the layer after it.
        for (auto id = left.rbegin(); id != left.rend(); ++id) tryAfter(*id);

        BuiltIds ids;
        m_result.graph = m_builder.build(&ids);
        ids.nodes.resize(m_source.nodeCount());
        m_result.prepared = std::move(ids.nodes);
        return std::move(m_result);
    }

  private:
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

    /// Returns true if nothing is left to do: folded, or excluded by the user.
    bool tryBefore(NodeId id) {
        const Node& node = m_source.node(id);
        if (skipped(id, id)) return true;
        BatchNorm norm;
        if (std::string reason = readBatchNorm(m_source, node, norm); !reason.empty()) {
            refuse(id, reason);
            return true;
        }
        return foldIntoSources(id, node.input(0), 1, norm, true);
    }

    /// Folds into the layers that produce `input`, whose channel axis is `axis`. With `tell`, records why it
    /// cannot. Returns true if nothing is left to do.
    bool foldIntoSources(NodeId id, TensorId input, std::size_t axis, const BatchNorm& norm, bool tell) {
        const FoldSources found =
            findFoldSources(m_source, m_builder, m_producers, input, axis, norm.channels());
        if (found.sources.empty()) {
            if (tell && !found.reason.empty()) refuse(id, found.reason);
            return false;
        }
        for (const FoldSource& source : found.sources) {
            if (tell && skipped(id, source.host)) return true;
            if (!tell && m_skip.contains(m_source.node(source.host).name)) return false;
        }
        std::vector<FoldHost> hosts(found.sources.size());
        bool staysAsAdd = false;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            const FoldSource& source = found.sources[i];
            const Node& host = m_builder.node(source.host);
            std::string reason = checkHostBefore(host, host.input(2).valid(), constantNow(source.host, 1),
                                                 constantNow(source.host, 2), source.count, hosts[i]);
            if (reason.empty() && source.needsAdd() && !norm.onlyScales()) {
                if (found.sources.size() > 1)
                    reason =
                        fmt::format("'{}' is a MatMul without a bias for its part of the shift", host.name);
                if (!tell) return false;  // the node itself is that bias
                staysAsAdd = true;
            }
            if (reason.empty()) continue;
            if (tell) refuse(id, reason);
            return false;
        }
        for (std::size_t i = 0; i < hosts.size(); ++i)
            apply(found.sources[i], std::move(hosts[i]),
                  norm.part(found.sources[i].first, found.sources[i].count), id);
        const Node& node = m_source.node(id);
        if (staysAsAdd) {
            const std::size_t after = m_source.tensor(input).shape->size() - axis - 1;
            std::vector<float> shift;
            for (std::size_t c = 0; c < norm.channels(); ++c)
                shift.push_back(norm.beta[c] - norm.mean[c] * norm.scale[c]);
            becomeAdd(id, node.input(0), node.output(), std::move(shift), after);
            return true;
        }
        TensorInfo& output = m_builder.tensorInfo(node.output());
        if (!output.shape) output.shape = m_source.tensor(input).shape;
        const NodeId last = m_producers[input.index()];
        m_builder.node(last).outputs[0] = node.output();
        moveShapeReaders(id, input, node.output());
        m_producers[node.output().index()] = last;
        remove(id, found.sources[0].host);
        return true;
    }

    /// Lets the nodes that read the shape of `from` read that of `to` instead. `reader` reads its values.
    void moveShapeReaders(NodeId reader, TensorId from, TensorId to) {
        std::vector<NodeId> others = std::exchange(m_shapeReaders[from], {});
        std::ranges::copy_if(m_source.tensor(from).consumers, std::back_inserter(others),
                             [&](NodeId other) { return other != reader; });
        for (const NodeId other : others) std::ranges::replace(m_builder.node(other).inputs, from, to);
        std::ranges::copy(others, std::back_inserter(m_shapeReaders[to]));
    }

    /// Applies a batch norm's part to one layer.
    void apply(const FoldSource& source, FoldHost host, const BatchNorm& norm, NodeId id) {
        if (!source.product) {
            std::vector<float> weight = foldIntoPrevious(host, norm);
            remember(source.host, norm);
            replaceConstants(source.host, std::move(host), std::move(weight), true);
            return;
        }
        if (source.needsAdd()) {
            std::vector<float> weight = foldIntoPrevious(host, norm);
            replaceConstants(source.host, std::move(host), std::move(weight), false);
            if (source.planar && !norm.gamma.empty())
                m_result.statistics[id.index()] = {norm.gamma, norm.beta};
            return;
        }
        host.bias = source.shiftValues;
        std::vector<float> weight = foldIntoPrevious(host, norm);
        Dims dims(source.positionsAfter + 1, 1);
        dims[0] = static_cast<std::int64_t>(source.count);
        const std::string name =
            m_builder.tensorInfo(m_builder.node(source.shift).input(source.shiftInput)).name + "_folded";
        m_builder.node(source.shift).inputs[source.shiftInput] = m_builder.addConstant(
            m_builder.unusedTensorName(name), Constant::fromFloats(dims, std::move(host.bias)));
        if (source.planar) remember(source.shift, norm);
        host.bias.clear();
        replaceConstants(source.host, std::move(host), std::move(weight), false);
    }

    /// Returns false if the node does not add one value per feature to the tensor.
    bool addToBias(NodeId id, TensorId tensor, const std::vector<float>& shift) {
        if (!id.valid() || !isOp(m_builder.node(id), "Add")) return false;
        const std::size_t input = m_builder.node(id).input(0) == tensor ? 1 : 0;
        const TensorId old = m_builder.node(id).input(input);
        const ConstantPtr constant = old.valid() ? m_builder.tensorInfo(old).constant : nullptr;
        if (!constant || constant->type() != DataType::Float32 || constant->dims().empty() ||
            constant->dims().back() != static_cast<std::int64_t>(shift.size()) ||
            constant->size() != constant->dims().back())
            return false;
        std::vector<float> sum = shift;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += constant->floats()[i];
        m_builder.node(id).inputs[input] =
            m_builder.addConstant(m_builder.unusedTensorName(m_builder.tensorInfo(old).name + "_folded"),
                                  Constant::fromFloats(constant->dims(), std::move(sum)));
        return true;
    }

    /// Turns a batch norm's node into an Add of a shift per channel; `after`: number of axes after the
    /// channel axis.
    void becomeAdd(NodeId id, TensorId from, TensorId to, std::vector<float> shift, std::size_t after) {
        Dims dims(after + 1, 1);
        dims[0] = static_cast<std::int64_t>(shift.size());
        Node& node = m_builder.node(id);
        const TensorId constant = m_builder.addConstant(m_builder.unusedTensorName(node.name + ".shift"),
                                                        Constant::fromFloats(dims, std::move(shift)));
        node.op = "Add";
        node.attributes = {};
        node.inputs = {from, constant};
        node.outputs = {to};
        m_producers[to.index()] = id;
        m_result.notes[id.index()] =
            "replaced by an Add: its factors were folded into the MatMul before or after it, which has no "
            "bias";
        ++m_result.count;
    }

    void tryAffine(NodeId id) {
        const Node& node = m_source.node(id);
        const bool constantFirst = m_source.constantOf(node.input(0)) != nullptr;
        const TensorId in = node.input(constantFirst ? 1 : 0);
        if (!in.valid() || m_skip.contains(node.name)) return;
        const Constant* operand = m_source.constantOf(node.input(constantFirst ? 0 : 1));
        const auto& shape = m_source.tensor(in).shape;
        const NodeId producer = m_producers[in.index()];
        if (operand == nullptr || !producer.valid()) return;
        // The channel axis is 1, except directly after a MatMul, or as the operand's shape indicates.
        std::size_t axis = 1, rank = 0, channels = 0;
        if (multipliesWeight(m_builder.node(producer))) {
            const ConstantPtr weight = constantNow(producer, 1);
            const auto layout =
                weight ? weightLayout(m_builder.node(producer), weight->dims()) : std::nullopt;
            if (!layout || (isOp(m_builder.node(producer), "MatMul") && (!shape || shape->empty()))) return;
            if (isOp(m_builder.node(producer), "MatMul")) axis = shape->size() - 1;
            rank = shape ? shape->size() : layout->dims.size();
            channels = static_cast<std::size_t>(layout->outputs());
        } else {
            if (!shape || operand->dims().size() > shape->size()) return;
            for (std::size_t d = 0; d < operand->dims().size(); ++d)
                if (operand->dims()[d] > 1) axis = shape->size() - operand->dims().size() + d;
            if (axis >= shape->size() || !(*shape)[axis].known()) return;
            rank = shape->size();
            channels = static_cast<std::size_t>((*shape)[axis].value);
        }
        BatchNorm affine;
        if (readAffine(m_source, node, rank, axis, channels, affine))
            foldIntoSources(id, in, axis, affine, false);
    }

    /// Returns an empty text if the layer can take the batch norm.
    std::string whyNotAfter(const HostAfter& found) {
        if (!found.host.valid()) {
            const TensorInfo& read = m_source.tensor(found.read);
            const std::string output =
                found.first.valid() ? fmt::format("the output of '{}'", m_source.node(read.producer).name)
                                    : "its output";
            return read.graphOutput ? fmt::format("no layer before it, and {} is a graph output", output)
                                    : fmt::format("no layer before it, and {} has {} readers", output,
                                                  readersOfValues(m_source, read));
        }
        if (!found.axis || !multipliesWeight(m_builder.node(found.host)) ||
            !readsAsData(m_builder.node(found.host), found.read))
            return "no Conv, ConvTranspose, Gemm or MatMul is adjacent to it";
        return {};
    }

    void tryAfter(NodeId id) {
        const Node& node = m_source.node(id);
        BatchNorm norm;
        readBatchNorm(m_source, node, norm);
        const HostAfter found = findHostAfter(m_source, m_builder, node.output());
        if (const std::string reason = whyNotAfter(found); !reason.empty()) {
            if (m_result.notes[id.index()].empty()) refuse(id, reason);
            return;
        }
        const NodeId host = found.host;
        const Node& hostNode = m_builder.node(host);
        if (m_skip.contains(hostNode.name)) {
            m_result.notes[id.index()] = fmt::format("not folded: skip_folding names '{}'", hostNode.name);
            return;
        }
        const bool product = isOp(hostNode, "MatMul");
        const auto& shape = m_source.tensor(found.read).shape;
        const std::size_t expected = !product ? 1 : shape && !shape->empty() ? shape->size() - 1 : 0;
        if (*found.axis != expected || (isConvolution(hostNode) && found.positions > 1)) {
            refuse(id, fmt::format("'{}' after it does not have the same channel axis", hostNode.name));
            return;
        }
        const BatchNorm spread = norm.repeated(found.positions);
        FoldHost fold;
        if (std::string reason = checkHostAfter(hostNode, hostNode.input(2).valid(), constantNow(host, 1),
                                                constantNow(host, 2), spread.channels(), fold);
            !reason.empty()) {
            refuse(id, reason);
            return;
        }
        std::vector<float> weight = foldIntoNext(fold, spread);
        std::vector<float> shift = fold.bias;
        m_builder.node(found.first).inputs[0] = node.input(0);
        moveShapeReaders(found.first, node.output(), node.input(0));
        replaceConstants(host, std::move(fold), std::move(weight), !product);
        if (product)
            addShift(id, host, std::move(shift));
        else
            remove(id, host);
    }

    /// Adds the shift of batch norm `id` to the Add after the MatMul `host`, or turns the batch norm into an
    /// Add there.
    void addShift(NodeId id, NodeId host, std::vector<float> shift) {
        const TensorId product = m_builder.node(host).output();
        if (addToBias(onlyReader(m_source, m_builder, product), product, shift)) {
            remove(id, host);
            return;
        }
        const TensorId before =
            m_builder.tensor(m_builder.unusedTensorName(m_builder.tensorInfo(product).name + "_product"));
        m_builder.tensorInfo(before).type = m_builder.tensorInfo(product).type;
        m_builder.tensorInfo(before).shape = m_builder.tensorInfo(product).shape;
        m_builder.node(host).outputs[0] = before;
        becomeAdd(id, before, product, std::move(shift), 0);
    }

    /// Records the distribution of the host's outputs. A second batch norm transforms the recorded one.
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

    /// Sets new constants, because other layers may share the old ones. A second fold changes those of the
    /// first.
    void replaceConstants(NodeId host, FoldHost fold, std::vector<float> weight, bool withBias) {
        const bool first = m_hosts.insert(host).second;
        const ConstantPtr newWeight = Constant::fromFloats(fold.layout.dims, std::move(weight));
        if (!first) {
            m_builder.setConstant(m_builder.node(host).input(1), newWeight);
        } else {
            const std::string name = m_builder.tensorInfo(m_builder.node(host).input(1)).name + "_folded";
            const TensorId id = m_builder.addConstant(m_builder.unusedTensorName(name), newWeight);
            m_builder.node(host).inputs[1] = id;
        }
        if (!withBias) return;
        const auto biasSize = static_cast<std::int64_t>(fold.bias.size());
        const ConstantPtr newBias = Constant::fromFloats({biasSize}, std::move(fold.bias));
        if (!first) {
            m_builder.setConstant(m_builder.node(host).input(2), newBias);
            return;
        }
        const Node old = m_builder.node(host);
        const std::string name =
            old.input(2).valid() ? m_builder.tensorInfo(old.input(2)).name + "_folded" : old.name + ".bias";
        const TensorId id = m_builder.addConstant(m_builder.unusedTensorName(name), newBias);
        m_builder.node(host).inputs.resize(3);
        m_builder.node(host).inputs[2] = id;
    }

    void remove(NodeId id, NodeId host) {
        m_builder.removeNode(id);
        m_result.foldedInto[id.index()] = host;
        m_result.notes[id.index()].clear();
        ++m_result.count;
    }

    const Graph& m_source;
    GraphBuilder m_builder;
    std::set<std::string, std::less<>> m_skip;
    std::vector<NodeId> m_producers;  ///< current producer of each tensor of the source; invalid: none
    std::set<NodeId> m_hosts;         ///< hosts that already have constants of their own
    std::map<TensorId, std::vector<NodeId>> m_shapeReaders;  ///< nodes that now read the shape of a tensor
    FoldResult m_result;
};

}  // namespace

FoldResult foldBatchNorms(const GraphPtr& source, const std::vector<std::string>& skip) {
    return Folder(*source, skip).fold();
}

}  // namespace quantloupe
