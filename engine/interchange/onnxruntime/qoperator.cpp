// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's QOperator format: DequantizeLinear, layer and QuantizeLinear become one integer operator.
//
// Operators: QLinearConv and QLinearMatMul of ONNX (opset 10); QGemm, QLinearAdd, QLinearMul,
// QLinearGlobalAveragePool of com.microsoft (ONNX Runtime's contrib operators). Flatten, Reshape, Transpose,
// Squeeze and Unsqueeze work on the codes directly if their input and output have the same scale. A Relu or
// Clip after a layer is removed if the range of the codes ends where it clips, because saturation has the
// same effect. Otherwise the layer stays between its Q/DQ pairs, like layers without an integer operator,
// 16-bit codes, and codes that do not use the full range of their type. Cost: one pass over the nodes.
// Limitation: the operators requantize the integer sum with one multiplication, while a Q/DQ pair divides a
// float, so codes at rounding ties can differ by one.

#include "interchange/onnxruntime/qoperator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "data/with_thousands.h"
#include "model/clip_bounds.h"
#include "model/graph_builder.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

/// A quantized tensor with its scales.
struct Codes {
    TensorId codes, scale, zero;
    DataType type = DataType::Undefined;
    std::vector<float> scales;
    std::vector<std::int64_t> zeros;
    std::int64_t axis = -1;  ///< -1: one scale

    bool bytes() const { return type == DataType::Int8 || type == DataType::UInt8; }
    bool oneScale() const { return scales.size() == 1; }
    bool sameAs(const Codes& other) const {
        return type == other.type && scales == other.scales && zeros == other.zeros;
    }
};

/// The QuantizeLinear after a layer, and the nodes between.
struct Target {
    Codes out;
    NodeId quantize;
    std::vector<NodeId> between;  ///< Relu and Clip
};

/// Thrown if a layer cannot be converted, with the reason.
struct NotConvertible {
    std::string reason;
};

class Rewriter {
  public:
    explicit Rewriter(const Graph& graph) : m_graph(graph), m_builder(graph) {}

    QOperatorModel run() {
        for (std::size_t n = 0; n < m_graph.nodeCount(); ++n) {
            const Node& node = m_graph.nodes()[n];
            if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear" || !readsCodes(node)) continue;
            try {
                rewrite(NodeId(n), node);
            } catch (const NotConvertible& refusal) {
                m_result.kept[refusal.reason].push_back(node.name);
            }
        }
        removeUnread();
        m_result.model = m_builder.build();
        return std::move(m_result);
    }

  private:
    std::optional<Codes> read(const Node& node) const {
        Codes c;
        c.codes = node.input(0);
        c.scale = node.input(1);
        c.zero = node.input(2);
        const Constant *scale = m_graph.constantOf(c.scale), *zero = m_graph.constantOf(c.zero);
        if (scale == nullptr || zero == nullptr || scale->type() != DataType::Float32) return {};
        c.type = zero->type();
        c.scales.assign(scale->floats().begin(), scale->floats().end());
        c.zeros = zero->toInt64s();
        if (!scale->dims().empty()) c.axis = node.attributes.integer("axis", 1);
        return c;
    }
    /// Returns the codes that the tensor was dequantized from.
    std::optional<Codes> codesOf(TensorId tensor) const {
        if (!tensor.valid()) return {};
        const NodeId maker = m_graph.tensor(tensor).producer;
        if (!maker.valid() || m_graph.node(maker).op != "DequantizeLinear") return {};
        return read(m_graph.node(maker));
    }
    bool readsCodes(const Node& node) const {
        return std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](TensorId in) { return codesOf(in).has_value(); });
    }

    void rewrite(NodeId id, const Node& node) {
        if (isClipping(node)) {
            // Handled as part of the layer before it; on its own it has no integer operator.
            const NodeId maker = m_graph.tensor(node.input(0)).producer;
            if (maker.valid() && m_graph.node(maker).op != "DequantizeLinear") return;
        }
        if (node.op == "Conv") return convolution(id, node);
        if (node.op == "Gemm") return gemm(id, node);
        if (node.op == "MatMul") return matMul(id, node);
        if (node.op == "Add" || node.op == "Mul") return elementwise(id, node);
        if (node.op == "GlobalAveragePool") return pool(id, node);
        if (onlyRearranges(node.op)) return move(id, node);
        throw NotConvertible{fmt::format("there is no integer operator for {}", node.op)};
    }

    Codes input(TensorId tensor) const {
        const auto codes = codesOf(tensor);
        if (!codes) throw NotConvertible{"one of the inputs is in float"};
        if (!codes->bytes()) throw NotConvertible{"integer operators support only 8-bit codes"};
        if (!codes->oneScale()) throw NotConvertible{"an activation has per-channel scales"};
        return *codes;
    }

    Target target(const Node& node, bool activations) const {
        Target t;
        double low = -std::numeric_limits<double>::infinity(), high = -low;
        for (TensorId at = node.output();;) {
            const NodeId next = m_graph.onlyConsumer(at);
            if (!next.valid()) throw NotConvertible{"its output is used in float"};
            const Node& reader = m_graph.node(next);
            if (reader.op == "QuantizeLinear") {
                t.quantize = next;
                const auto out = read(reader);
                if (!out || !out->oneScale() || !out->bytes())
                    throw NotConvertible{"integer operators support only 8-bit codes"};
                t.out = *out;
                t.out.codes = reader.output();
                break;
            }
            if (!activations || !isClipping(reader)) throw NotConvertible{"its output is used in float"};
            const auto bounds = clipBounds(m_graph, reader);
            if (!bounds) throw NotConvertible{"the Clip after it has computed bounds"};
            low = std::max(low, bounds->low);
            high = std::max(bounds->low, std::min(high, bounds->high));
            t.between.push_back(next);
            at = reader.output();
        }
        const double scale = t.out.scales[0], zero = static_cast<double>(t.out.zeros[0]);
        const bool isSigned = t.out.type == DataType::Int8;
        const double least = isSigned ? -128 : 0, most = isSigned ? 127 : 255;
        if (std::nearbyint(low / scale) + zero > least || std::nearbyint(high / scale) + zero < most)
            throw NotConvertible{"the codes exceed the output range of the Relu or Clip after it"};
        return t;
    }

    /// Returns the bias in units of the integer sums; an invalid id if there is none.
    TensorId bias(const Node& node, TensorId tensor, const Codes& x, const Codes& w) {
        if (!tensor.valid()) return {};
        std::vector<double> values;
        const auto codes = codesOf(tensor);
        if (codes) {
            const Constant* stored = m_graph.constantOf(codes->codes);
            if (stored == nullptr) throw NotConvertible{"its bias is not constant"};
            values = stored->toDoubles();
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] =
                    (values[i] - static_cast<double>(codes->zeros[codes->zeros.size() == 1 ? 0 : i])) *
                    codes->scales[codes->oneScale() ? 0 : i];
        } else {
            const Constant* stored = m_graph.constantOf(tensor);
            if (stored == nullptr) throw NotConvertible{"its bias is not constant"};
            values = stored->toDoubles();
        }
        if (values.size() != w.scales.size() && !w.oneScale())
            throw NotConvertible{"the length of its bias differs from its number of channels"};
        std::vector<std::byte> bytes(values.size() * sizeof(std::int32_t));
        bool rounded = false;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double exact =
                values[i] / (static_cast<double>(x.scales[0]) * w.scales[w.oneScale() ? 0 : i]);
            const double code = std::nearbyint(exact);
            if (!(std::abs(code) <= std::numeric_limits<std::int32_t>::max()))
                throw NotConvertible{"its bias does not fit into int32"};
            rounded = rounded || std::abs(code - exact) > 1e-3 * std::max(1.0, std::abs(code));
            const auto integer = static_cast<std::int32_t>(code);
            std::memcpy(bytes.data() + i * sizeof integer, &integer, sizeof integer);
        }
        if (rounded) m_result.roundedBiases.push_back(node.name);
        const auto count = static_cast<std::int64_t>(values.size());
        return m_builder.addConstant(
            m_builder.unusedTensorName(m_graph.tensor(node.output()).name + "_bias_int32"),
            Constant::fromBytes(DataType::Int32, {count}, std::move(bytes)));
    }

    Codes weight(TensorId tensor, std::int64_t channels) const {
        const auto w = codesOf(tensor);
        if (!w || m_graph.constantOf(w->codes) == nullptr)
            throw NotConvertible{"its weight is not a quantized constant"};
        if (!w->bytes()) throw NotConvertible{"integer operators support only 8-bit codes"};
        if (!w->oneScale() && w->axis != channels)
            throw NotConvertible{"the scales of its weight are not along its output channels"};
        if (std::any_of(w->zeros.begin(), w->zeros.end(), [&](std::int64_t z) { return z != w->zeros[0]; }))
            throw NotConvertible{"its weight has several zero points"};
        constexpr std::int64_t kMostProducts = std::numeric_limits<std::int32_t>::max() / (255 * 128);
        const Constant& codes = *m_graph.constantOf(w->codes);
        const std::int64_t outputs = codes.dims().at(static_cast<std::size_t>(channels));
        if (outputs > 0 && codes.size() / outputs > kMostProducts)
            throw NotConvertible{fmt::format("a sum of more than {} products may not fit into int32",
                                             withThousands(kMostProducts))};
        return *w;
    }

    static void requireTypes(const Codes& x, const Codes& w, const Codes& out) {
        if (x.type != out.type) throw NotConvertible{"its input and output have codes of different types"};
        if (x.type == DataType::Int8 && w.type != DataType::Int8)
            throw NotConvertible{"int8 activations need int8 weights"};
    }

    void convolution(NodeId id, const Node& node) {
        const Codes x = input(node.input(0)), w = weight(node.input(1), 0);
        const Target t = target(node, true);
        requireTypes(x, w, t.out);
        const TensorId b = bias(node, node.input(2), x, w);
        std::vector<TensorId> inputs = {x.codes, x.scale, x.zero,      w.codes,
                                        w.scale, w.zero,  t.out.scale, t.out.zero};
        if (b.valid()) inputs.push_back(b);
        replace(id, node, t, "QLinearConv", "", std::move(inputs), node.attributes);
    }

    void gemm(NodeId id, const Node& node) {
        if (node.attributes.real("alpha", 1) != 1 || node.attributes.real("beta", 1) != 1 ||
            node.attributes.integer("transA", 0) != 0)
            throw NotConvertible{"it is a Gemm with alpha, beta or transA"};
        const bool transposed = node.attributes.integer("transB", 0) != 0;
        const Codes x = input(node.input(0)), w = weight(node.input(1), transposed ? 0 : 1);
        const Target t = target(node, true);
        requireTypes(x, w, t.out);
        const std::int64_t columns = m_graph.constantOf(w.codes)->dims().at(transposed ? 0 : 1);
        const TensorId c = node.input(2);
        if (c.valid()) {
            const auto codes = codesOf(c);
            const Constant* stored = m_graph.constantOf(codes ? codes->codes : c);
            if (stored == nullptr || stored->size() != columns)
                throw NotConvertible{"its bias does not have one value per column"};
        }
        const TensorId b = bias(node, c, x, w);
        Attributes attributes;
        if (transposed) attributes.set("transB", std::int64_t{1});
        replace(id, node, t, "QGemm", kMicrosoft,
                {x.codes, x.scale, x.zero, w.codes, w.scale, w.zero, b, t.out.scale, t.out.zero},
                std::move(attributes));
    }

    void matMul(NodeId id, const Node& node) {
        const Codes a = input(node.input(0));
        auto b = codesOf(node.input(1));
        if (!b || !b->bytes()) throw NotConvertible{"one of the inputs is in float"};
        if (const Constant* constant = m_graph.constantOf(b->codes)) {
            if (constant->dims().size() != 2) throw NotConvertible{"its weight is not a matrix"};
            b = weight(node.input(1), 1);
        } else if (!b->oneScale()) {
            throw NotConvertible{"an activation has per-channel scales"};
        }
        const Target t = target(node, true);
        requireTypes(a, *b, t.out);
        replace(id, node, t, "QLinearMatMul", "",
                {a.codes, a.scale, a.zero, b->codes, b->scale, b->zero, t.out.scale, t.out.zero}, {});
    }

    void elementwise(NodeId id, const Node& node) {
        const Codes a = input(node.input(0)), b = input(node.input(1));
        const auto &left = m_graph.tensor(node.input(0)).shape, &right = m_graph.tensor(node.input(1)).shape;
        if (m_graph.constantOf(a.codes) || m_graph.constantOf(b.codes) || (left && right && *left != *right))
            throw NotConvertible{fmt::format("the inputs of {} have different shapes", node.op)};
        const Target t = target(node, true);
        if (a.type != b.type || a.type != t.out.type)
            throw NotConvertible{"its inputs and output have codes of different types"};
        replace(id, node, t, "QLinear" + node.op, kMicrosoft,
                {a.codes, a.scale, a.zero, b.codes, b.scale, b.zero, t.out.scale, t.out.zero}, {});
    }

    void pool(NodeId id, const Node& node) {
        const Codes x = input(node.input(0));
        const Target t = target(node, false);
        if (x.type != t.out.type) throw NotConvertible{"its input and output have codes of different types"};
        Attributes attributes;
        attributes.set("channels_last", std::int64_t{0});
        replace(id, node, t, "QLinearGlobalAveragePool", kMicrosoft,
                {x.codes, x.scale, x.zero, t.out.scale, t.out.zero}, std::move(attributes));
    }

    void move(NodeId id, const Node& node) {
        const Codes x = input(node.input(0));
        const Target t = target(node, false);
        if (!x.sameAs(t.out)) throw NotConvertible{"its input and output have different scales"};
        std::vector<TensorId> inputs = node.inputs;
        inputs[0] = x.codes;
        replace(id, node, t, node.op, "", std::move(inputs), node.attributes);
    }

    void replace(NodeId id, const Node& node, const Target& t, const std::string& op, const char* domain,
                 std::vector<TensorId> inputs, Attributes attributes) {
        Node fresh;
        fresh.name = node.name;
        fresh.modulePath = node.modulePath;
        fresh.op = op;
        fresh.domain = domain;
        fresh.inputs = std::move(inputs);
        fresh.outputs = {t.out.codes};
        fresh.attributes = std::move(attributes);
        m_builder.removeNode(id);
        m_builder.removeNode(t.quantize);
        for (const NodeId between : t.between) m_builder.removeNode(between);
        m_builder.tensorInfo(t.out.codes).type = t.out.type;
        m_builder.addNode(std::move(fresh));
        if (*domain != '\0') m_builder.facts().opsets[kMicrosoft] = 1;
        ++m_result.made[op];
    }

    /// Removes DequantizeLinear nodes that no longer have consumers.
    void removeUnread() {
        std::set<TensorId> read;
        for (std::size_t n = 0; n < m_builder.nodeCount(); ++n)
            if (!m_builder.removed(NodeId(n)))
                read.insert(m_builder.node(NodeId(n)).inputs.begin(), m_builder.node(NodeId(n)).inputs.end());
        for (std::size_t n = 0; n < m_builder.nodeCount(); ++n) {
            const Node& node = m_builder.node(NodeId(n));
            if (m_builder.removed(NodeId(n)) || node.op != "DequantizeLinear" || read.contains(node.output()))
                continue;
            if (n < m_graph.nodeCount() && m_graph.tensor(node.output()).graphOutput) continue;
            m_builder.removeNode(NodeId(n));
        }
    }

    const Graph& m_graph;
    GraphBuilder m_builder;
    QOperatorModel m_result;
};

}  // namespace

QOperatorModel toQOperators(const GraphPtr& qdq) { return Rewriter(*qdq).run(); }

}  // namespace quantloupe
