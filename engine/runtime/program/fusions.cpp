// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/fusions.h"

#include <algorithm>

#include "model/operator_traits.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

/// Follows a chain of nodes whose results are only read within it, and records them.
class Chain {
  public:
    Chain(const FusionScope& scope, NodeId first) : m_scope(&scope), m_covered{first} {}

    const Node& last() const { return m_scope->graph.node(m_covered.back()); }
    TensorId end() const { return last().output(); }
    const std::vector<NodeId>& covered() const { return m_covered; }

    /// Advances to the only reader of the last result if its operator is `op`.
    bool follow(std::string_view op) { return accept(reader(), op); }
    /// The same if `also` reads the last result, too, and belongs to the group.
    bool followWith(std::string_view op, NodeId also) {
        if (!m_scope->hidden(end())) return false;
        NodeId found;
        for (const NodeId id : m_scope->graph.tensor(end()).consumers)
            if (id != also) {
                if (found.valid()) return false;
                found = id;
            }
        return accept(found, op);
    }
    /// The only reader of the last result, if the result is hidden.
    NodeId reader() const { return m_scope->hidden(end()) ? m_scope->graph.onlyConsumer(end()) : NodeId(); }
    void add(NodeId id) { m_covered.push_back(id); }

    /// The input of the last node that is not `known`; invalid unless there are exactly two inputs and one is
    /// `known`.
    TensorId other(TensorId known) const {
        const Node& node = last();
        if (node.inputs.size() != 2) return {};
        if (node.inputs[0] == known) return node.inputs[1];
        return node.inputs[1] == known ? node.inputs[0] : TensorId();
    }
    /// The scalar operand of the last node, whose other operand is `known`.
    std::optional<float> scalarOperand(TensorId known) const {
        const TensorId id = other(known);
        const Constant* value = id.valid() ? m_scope->constant(id) : nullptr;
        if (value == nullptr || value->size() != 1 || value->type() != DataType::Float32) return std::nullopt;
        // A scalar of a higher rank than the tensor would add dimensions.
        const Node& first = m_scope->graph.node(m_covered.front());
        const bool swapped = m_scope->constant(first.input(0)) != nullptr && first.inputs.size() > 1;
        const TensorDesc* desc = m_scope->desc(first.input(swapped ? 1 : 0));
        if (!value->dims().empty() && (desc == nullptr || value->dims().size() > desc->dims.size()))
            return std::nullopt;
        return value->floats()[0];
    }

    Fusion made(Node node) const {
        node.name = last().name;
        node.outputs = {end()};
        return {std::move(node), m_covered};
    }

  private:
    bool accept(NodeId id, std::string_view op) {
        if (!id.valid() || !isOp(m_scope->graph.node(id), op)) return false;
        m_covered.push_back(id);
        return true;
    }

    const FusionScope* m_scope;
    std::vector<NodeId> m_covered;
};

Node nodeOf(std::string op, std::vector<TensorId> inputs, Attributes attributes = {}) {
    Node node;
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    return node;
}

/// MatMul by a constant matrix, then Add of one constant per column.
std::optional<Fusion> biasedProduct(const FusionScope& scope, NodeId first) {
    const Node& product = scope.graph.node(first);
    const Constant* weight = scope.constant(product.input(1));
    const TensorDesc* left = scope.desc(product.input(0));
    if (weight == nullptr || weight->dims().size() != 2 || left == nullptr || left->dims.size() < 2)
        return std::nullopt;
    Chain chain(scope, first);
    if (!chain.follow("Add")) return std::nullopt;
    const TensorId bias = chain.other(product.output());
    const Constant* values = bias.valid() ? scope.constant(bias) : nullptr;
    if (values == nullptr || values->type() != DataType::Float32 || values->dims().empty() ||
        values->dims().size() > left->dims.size() || values->size() != weight->dims()[1] ||
        values->dims().back() != values->size())
        return std::nullopt;
    return chain.made(nodeOf("MatMul", {product.input(0), product.input(1), bias}));
}

/// Transpose of the last two dimensions, then MatMul by the result, as in attention.
std::optional<Fusion> transposedProduct(const FusionScope& scope, NodeId first) {
    const Node& transpose = scope.graph.node(first);
    const TensorDesc* right = scope.desc(transpose.input(0));
    if (right == nullptr || right->type != DataType::Float32 || right->dims.size() < 3 ||
        scope.constant(transpose.input(0)) != nullptr)
        return std::nullopt;
    Dims order = transpose.attributes.integers("perm");
    const std::size_t rank = right->dims.size();
    if (order.size() != rank) return std::nullopt;
    std::swap(order[rank - 2], order[rank - 1]);
    for (std::size_t d = 0; d < rank; ++d)
        if (order[d] != static_cast<std::int64_t>(d)) return std::nullopt;
    Chain chain(scope, first);
    if (!chain.follow("MatMul")) return std::nullopt;
    const Node& product = chain.last();
    const TensorId left = product.input(0);
    const TensorDesc* leftDesc = left.valid() ? scope.desc(left) : nullptr;
    if (leftDesc == nullptr || leftDesc->dims.size() < 2 || product.input(1) != transpose.output() ||
        left == transpose.output())
        return std::nullopt;
    Attributes attributes;
    attributes.set("transB", std::int64_t{1});
    return chain.made(nodeOf("MatMul", {left, transpose.input(0)}, std::move(attributes)));
}

/// Advances to a BatchNormalization with fixed statistics, which become inputs 3 to 6 of the Conv `node`.
bool normalize(const FusionScope& scope, const Constant& weight, Chain& chain, Node& node) {
    const TensorId sums = chain.end();
    if (!chain.follow("BatchNormalization")) return false;
    const Node& norm = chain.last();
    if (norm.attributes.integer("training_mode", 0) != 0 || norm.outputs.size() != 1 ||
        norm.input(0) != sums || norm.inputs.size() != 5)
        return false;
    for (std::size_t i = 1; i < 5; ++i) {
        const Constant* values = norm.input(i).valid() ? scope.constant(norm.input(i)) : nullptr;
        if (values == nullptr || values->type() != DataType::Float32 || values->size() != weight.dims()[0])
            return false;
        node.inputs.push_back(norm.input(i));
    }
    node.attributes.set("epsilon", norm.attributes.real("epsilon", 1e-5f));
    return true;
}

/// Advances to a Sigmoid and the Mul of its input and output.
bool followSwish(const FusionScope& scope, Chain& chain) {
    const TensorId x = chain.end();
    NodeId product;
    for (const NodeId id : scope.graph.tensor(x).consumers)
        if (isOp(scope.graph.node(id), "Mul")) product = id;
    if (!product.valid() || !chain.followWith("Sigmoid", product)) return false;
    const TensorId sigmoid = chain.end();
    return chain.follow("Mul") && chain.other(sigmoid) == x;
}

/// Conv, then BatchNormalization, Swish, or both.
std::optional<Fusion> longConvolution(const FusionScope& scope, NodeId first) {
    const Node& convolution = scope.graph.node(first);
    const Constant* weight = scope.constant(convolution.input(1));
    if (weight == nullptr || weight->dims().empty() || convolution.inputs.size() > 3) return std::nullopt;
    std::optional<Fusion> longest;
    Chain chain(scope, first);
    Node node = nodeOf("Conv", {convolution.input(0), convolution.input(1), convolution.input(2)},
                       convolution.attributes);
    if (Chain normalized = chain; normalize(scope, *weight, normalized, node)) {
        chain = normalized;
        longest = chain.made(node);
    } else {
        node.inputs.resize(3);
    }
    if (followSwish(scope, chain)) {
        node.attributes.set(kSwish, std::int64_t{1});
        longest = chain.made(node);
    }
    return longest;
}

/// x / scale or x * scale as an attribute; empty if the node is neither.
std::optional<Attributes> scaleOf(const Chain& chain, TensorId x) {
    const Node& node = chain.last();
    if (!isOp(node, "Div") && !isOp(node, "Mul")) return std::nullopt;
    if (isOp(node, "Div") && node.input(0) != x) return std::nullopt;
    const auto scale = chain.scalarOperand(x);
    if (!scale) return std::nullopt;
    Attributes attributes;
    attributes.set(isOp(node, "Div") ? "divisor" : "factor", *scale);
    return attributes;
}

/// Scale, mask, Softmax over the last axis; scale or mask may be absent.
std::optional<Fusion> maskedSoftmax(const FusionScope& scope, NodeId first) {
    const Node& start = scope.graph.node(first);
    for (const TensorId x : start.inputs) {
        const TensorDesc* desc = x.valid() ? scope.desc(x) : nullptr;
        if (desc == nullptr || desc->type != DataType::Float32 || desc->dims.empty() ||
            scope.constant(x) != nullptr)
            continue;
        Chain chain(scope, first);
        Attributes attributes;
        TensorId mask, scaled = x;
        bool masks = isOp(start, "Add");
        if (!masks) {
            const auto scale = scaleOf(chain, x);
            if (!scale) continue;
            attributes = *scale;
            scaled = start.output();
            masks = chain.follow("Add");
        }
        if (masks) {
            mask = chain.other(scaled);
            const TensorDesc* maskDesc = mask.valid() ? scope.desc(mask) : nullptr;
            if (maskDesc == nullptr || maskDesc->type != DataType::Float32 ||
                maskDesc->dims.size() > desc->dims.size())
                continue;
            bool fits = true;  // the mask must not enlarge the shape of the values
            for (std::size_t d = 1; d <= maskDesc->dims.size(); ++d) {
                const std::int64_t extent = maskDesc->dims[maskDesc->dims.size() - d];
                fits = fits && (extent == 1 || extent == desc->dims[desc->dims.size() - d]);
            }
            if (!fits) continue;
        }
        if (!chain.follow("Softmax")) continue;
        const auto rank = static_cast<std::int64_t>(desc->dims.size());
        const std::int64_t axis = chain.last().attributes.integer("axis", scope.graph.opset() < 13 ? 1 : -1);
        if (axis != -1 && axis != rank - 1) continue;
        return chain.made(nodeOf(kFusedMaskedSoftmax, {x, mask}, std::move(attributes)));
    }
    return std::nullopt;
}

/// x * sigmoid(x), which Quantloupe computes as QuickGelu with alpha = 1.
std::optional<Fusion> swish(const FusionScope& scope, NodeId first) {
    const TensorId x = scope.graph.node(first).input(0);
    const TensorDesc* desc = x.valid() ? scope.desc(x) : nullptr;
    const bool known = desc != nullptr && scope.constant(x) == nullptr;
    if (!known || (desc->type != DataType::Float32 && desc->type != DataType::UInt8)) return std::nullopt;
    Chain chain(scope, first);
    const TensorId sigmoid = chain.end();
    if (!chain.follow("Mul") || chain.other(sigmoid) != x) return std::nullopt;
    Attributes attributes;
    attributes.set("alpha", 1.0f);
    Node node = nodeOf("QuickGelu", {x}, std::move(attributes));
    node.domain = "com.microsoft";
    return chain.made(std::move(node));
}

/// 0.5 x (1 + erf(x / sqrt 2)) with the halving before or after the product.
std::optional<Fusion> erfGelu(const FusionScope& scope, NodeId first, TensorId x, NodeId scaling) {
    Chain chain(scope, scaling);
    auto attributes = scaleOf(chain, x);
    if (!attributes || !chain.follow("Erf")) return std::nullopt;
    const TensorId erf = chain.end();
    if (!chain.follow("Add") || chain.scalarOperand(erf) != 1.0f) return std::nullopt;
    const TensorId plusOne = chain.end();
    if (!chain.follow("Mul")) return std::nullopt;
    const TensorId factor = chain.other(plusOne);
    if (factor == x) {
        const TensorId product = chain.end();
        if (!chain.follow("Mul") || chain.scalarOperand(product) != 0.5f) return std::nullopt;
    } else {
        // The factor must be x / 2, with no other reader.
        if (!factor.valid() || !scope.hidden(factor) || !scope.graph.onlyConsumer(factor).valid())
            return std::nullopt;
        const NodeId half = scope.graph.tensor(factor).producer;
        if (!half.valid() || !isOp(scope.graph.node(half), "Mul")) return std::nullopt;
        const Chain halving(scope, half);
        if (halving.scalarOperand(x) != 0.5f) return std::nullopt;
        Fusion fusion = chain.made(nodeOf(kFusedErfGelu, {x}, std::move(*attributes)));
        fusion.covered.push_back(half);
        return *std::min_element(fusion.covered.begin(), fusion.covered.end()) == first
                   ? std::optional(fusion)
                   : std::nullopt;
    }
    return scaling == first ? std::optional(chain.made(nodeOf(kFusedErfGelu, {x}, std::move(*attributes))))
                            : std::nullopt;
}

std::optional<Fusion> erfGelu(const FusionScope& scope, NodeId first) {
    for (const TensorId x : scope.graph.node(first).inputs) {
        const TensorDesc* desc = x.valid() && scope.constant(x) == nullptr ? scope.desc(x) : nullptr;
        if (desc == nullptr || desc->type != DataType::Float32) continue;
        for (const NodeId reader : scope.graph.tensor(x).consumers)
            if (auto fusion = erfGelu(scope, first, x, reader)) return fusion;
    }
    return std::nullopt;
}

/// Whether the node is a ReduceMean over the last axis, with known axes.
bool isRowMean(const FusionScope& scope, const Node& node, std::size_t rank) {
    if (!isOp(node, "ReduceMean") || node.attributes.integer("keepdims", 1) == 0) return false;
    Dims axes = node.attributes.integers("axes");
    if (node.input(1).valid()) {
        const Constant* given = scope.constant(node.input(1));
        if (given == nullptr) return false;
        axes = given->toInt64s();
    }
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == static_cast<std::int64_t>(rank) - 1);
}

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias.
std::optional<Fusion> composedLayerNorm(const FusionScope& scope, NodeId first) {
    const TensorId x = scope.graph.node(first).input(0);
    const TensorDesc* desc = x.valid() ? scope.desc(x) : nullptr;
    if (desc == nullptr || desc->type != DataType::Float32 || desc->dims.empty()) return std::nullopt;
    const std::size_t rank = desc->dims.size();
    if (!isRowMean(scope, scope.graph.node(first), rank)) return std::nullopt;
    Chain chain(scope, first);
    if (!chain.follow("Sub") || chain.last().input(0) != x) return std::nullopt;
    const TensorId distance = chain.end();
    // The difference x - mean is read by the square and by the division.
    NodeId division;
    for (const NodeId id : scope.graph.tensor(distance).consumers)
        if (isOp(scope.graph.node(id), "Div") && scope.graph.node(id).input(0) == distance) division = id;
    if (!division.valid()) return std::nullopt;
    if (chain.followWith("Pow", division)) {
        if (chain.last().input(0) != distance || chain.scalarOperand(distance) != 2.0f) return std::nullopt;
    } else if (!chain.followWith("Mul", division) || chain.last().input(0) != distance ||
               chain.last().input(1) != distance) {
        return std::nullopt;
    }
    if (!chain.follow("ReduceMean") || !isRowMean(scope, chain.last(), rank)) return std::nullopt;
    const TensorId variance = chain.end();
    if (!chain.follow("Add")) return std::nullopt;
    const auto epsilon = chain.scalarOperand(variance);
    if (!epsilon || !chain.follow("Sqrt") || !chain.follow("Div")) return std::nullopt;
    if (chain.covered().back() != division) return std::nullopt;
    const auto rowConstant = [&](TensorId known) -> TensorId {
        const TensorId id = chain.other(known);
        const Constant* value = id.valid() ? scope.constant(id) : nullptr;
        const bool fits = value != nullptr && value->type() == DataType::Float32 &&
                          value->dims().size() == 1 && value->size() == desc->dims.back();
        return fits ? id : TensorId();
    };
    const TensorId normalized = chain.end();
    if (!chain.follow("Mul")) return std::nullopt;
    const TensorId scale = rowConstant(normalized), scaled = chain.end();
    if (!scale.valid() || !chain.follow("Add")) return std::nullopt;
    const TensorId bias = rowConstant(scaled);
    if (!bias.valid()) return std::nullopt;
    Attributes attributes;
    attributes.set("epsilon", *epsilon);
    return chain.made(nodeOf(kFusedLayerNorm, {x, scale, bias}, std::move(attributes)));
}

}  // namespace

std::optional<Fusion> findFusion(const FusionScope& scope, NodeId first) {
    const Node& node = scope.graph.node(first);
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "MatMul") return biasedProduct(scope, first);
    if (node.op == "Conv") return longConvolution(scope, first);
    if (node.op == "Transpose") return transposedProduct(scope, first);
    if (node.op == "ReduceMean") return composedLayerNorm(scope, first);
    if (node.op == "Sigmoid") return swish(scope, first);
    if (node.op == "Div" || node.op == "Mul")
        if (auto gelu = erfGelu(scope, first)) return gelu;
    if (node.op == "Div" || node.op == "Mul" || node.op == "Add") return maskedSoftmax(scope, first);
    return std::nullopt;
}

}  // namespace quantloupe
