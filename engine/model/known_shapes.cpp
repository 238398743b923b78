// SPDX-License-Identifier: Apache-2.0
#include "model/known_shapes.h"

#include <algorithm>
#include <set>

#include "base/is_one_of.h"
#include "model/onnx_proto.h"
#include "model/operator_signatures.h"

namespace quantloupe {
namespace {

constexpr int kFarthest = 200;  ///< nodes to look back
// Larger values, which no network has, count as unknown.
constexpr std::int64_t kMostDims = 64;
constexpr std::int64_t kWidest = std::int64_t{1} << 40;

std::vector<std::int64_t> dimsOf(const onnx::ValueInfoProto& value) {
    std::vector<std::int64_t> dims;
    for (const auto& dim : value.type().tensor_type().shape().dim())
        dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    return dims;
}

/// Returns whether the output has as many dimensions as the first input, and these of the same width.
bool keepsWidth(const std::string& op, int inputs) {
    static const std::set<std::string> ops{"BatchNormalization",
                                           "BiasGelu",
                                           "Binarizer",
                                           "CastLike",
                                           "Clip",
                                           "CumSum",
                                           "DequantizeLinear",
                                           "Dropout",
                                           "FastGelu",
                                           "Identity",
                                           "Imputer",
                                           "InstanceNormalization",
                                           "LayerNormalization",
                                           "LogSoftmax",
                                           "LRN",
                                           "Normalizer",
                                           "PRelu",
                                           "QuantizeLinear",
                                           "QuickGelu",
                                           "RotaryEmbedding",
                                           "Scaler",
                                           "SimplifiedLayerNormalization",
                                           "SkipLayerNormalization",
                                           "SkipSimplifiedLayerNormalization",
                                           "Softmax",
                                           "SwiGLU",
                                           "Trilu"};
    return ops.contains(op) || (inputs == 1 && isElementwise(op));
}

/// Returns whether the output has as many dimensions as the first input.
bool keepsRank(const std::string& op, int inputs) {
    static const std::set<std::string> ops{"AveragePool",
                                           "Concat",
                                           "Conv",
                                           "ConvTranspose",
                                           "DepthToSpace",
                                           "FusedConv",
                                           "GlobalAveragePool",
                                           "GlobalLpPool",
                                           "GlobalMaxPool",
                                           "LpNormalization",
                                           "LpPool",
                                           "MatMulNBits",
                                           "MaxPool",
                                           "Pad",
                                           "Resize",
                                           "Slice",
                                           "SpaceToDepth",
                                           "Split",
                                           "Tile",
                                           "Upsample"};
    return ops.contains(op) || keepsWidth(op, inputs);
}

/// Returns whether the output has as many dimensions as the input with most.
bool broadcasts(const std::string& op) {
    return isElementwise(op) || isOneOf(op, {"Expand", "FusedMatMul", "MatMul"});
}

}  // namespace

KnownShapes::KnownShapes(const onnx::GraphProto& graph, const KnownShapes* outer) : m_outer(outer) {
    for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
        for (const auto& value : *values)
            if (value.type().tensor_type().has_shape()) m_dims[value.name()] = dimsOf(value);
    for (const auto& tensor : graph.initializer()) addConstant(tensor.name(), tensor);
    for (const auto& node : graph.node()) {
        for (const std::string& output : node.output()) m_producers[output] = &node;
        const auto* value = node.op_type() == "Constant" ? attributeOf(node, "value") : nullptr;
        if (value != nullptr && value->has_t() && node.output_size() == 1)
            addConstant(node.output(0), value->t());
    }
}

void KnownShapes::addConstant(const std::string& name, const onnx::TensorProto& tensor) {
    m_dims[name] = {tensor.dims().begin(), tensor.dims().end()};
    if (tensor.data_type() != onnx::TensorProto::INT64 || tensor.dims_size() != 1) return;
    constexpr std::size_t kMost = 8;  // dimensions of a shape
    if (auto values = integersOf(tensor); values && !values->empty() && values->size() <= kMost)
        m_shapes[name] = std::move(*values);
}

template <typename T, typename Compute>
std::optional<T> KnownShapes::fromProducer(std::map<std::string, std::optional<T>>& known,
                                           Property<T> property, const std::string& tensor, int depth,
                                           const Compute& compute) const {
    const auto producer = m_producers.find(tensor);
    if (producer == m_producers.end())
        return m_outer == nullptr ? std::nullopt : (m_outer->*property)(tensor, depth);
    if (depth > kFarthest) return {};
    const auto [place, isNew] = known.emplace(tensor, std::nullopt);  // unknown within a circle
    if (isNew) place->second = compute(*producer->second);
    return place->second;
}

template <typename T>
std::optional<T> KnownShapes::ofBranches(const onnx::NodeProto& node, const std::string& tensor,
                                         Property<T> property, int depth) const {
    const auto output = static_cast<int>(std::ranges::find(node.output(), tensor) - node.output().begin());
    std::optional<T> common;
    for (const auto& attribute : node.attribute()) {
        if (!attribute.has_g() || output >= attribute.g().output_size()) continue;
        const KnownShapes branch(attribute.g(), this);
        const std::optional<T> known = (branch.*property)(attribute.g().output(output).name(), depth);
        if (!known || (common && common != known)) return {};
        common = known;
    }
    return common;
}

const std::vector<std::int64_t>* KnownShapes::listOf(const std::string& tensor) const {
    if (const auto known = m_shapes.find(tensor); known != m_shapes.end()) return &known->second;
    return m_outer == nullptr || m_producers.contains(tensor) ? nullptr : m_outer->listOf(tensor);
}

std::optional<std::size_t> KnownShapes::rankOf(const std::string& tensor, int depth) const {
    if (const auto known = m_dims.find(tensor); known != m_dims.end()) return known->second.size();
    return fromProducer(m_ranks, &KnownShapes::rankOf, tensor, depth,
                        [&](const onnx::NodeProto& node) { return computedRank(node, tensor, depth + 1); });
}

std::optional<std::size_t> KnownShapes::computedRank(const onnx::NodeProto& node, const std::string& tensor,
                                                     int depth) const {
    const auto input = [&](int i) {
        return i < node.input_size() ? rankOf(node.input(i), depth) : std::optional<std::size_t>();
    };
    const std::string& op = node.op_type();
    if (op == "If") return ofBranches(node, tensor, &KnownShapes::rankOf, depth);
    const auto without = [&](const std::optional<std::size_t>& axes) -> std::optional<std::size_t> {
        const auto rank = input(0);
        return rank && axes && *axes <= *rank ? std::optional(*rank - *axes) : std::nullopt;
    };
    if (op == "EmbedLayerNormalization") return node.output_size() > 1 && tensor == node.output(1) ? 1 : 3;
    if (op.ends_with("Attention"))
        return tensor != node.output(0)          ? std::nullopt
               : isStandardDomain(node.domain()) ? input(0)
                                                 : std::optional<std::size_t>(3);
    if (keepsRank(op, node.input_size())) return input(0);
    if (op == "Shape" || op == "Range") return 1;
    if (op == "Gemm" || op == "FusedGemm" || op == "Flatten") return 2;
    if (op == "Transpose") {
        const auto* order = attributeOf(node, "perm");
        return order == nullptr ? input(0) : static_cast<std::size_t>(order->ints_size());
    }
    if (op == "Unsqueeze") {
        const auto rank = input(0), axes = axesOf(node, depth);
        return rank && axes ? std::optional(*rank + *axes) : std::nullopt;
    }
    if (op == "Squeeze") return without(axesOf(node, depth));
    if (op.starts_with("Reduce")) {
        const auto* kept = attributeOf(node, "keepdims");
        return kept == nullptr || kept->i() != 0 ? input(0) : without(axesOf(node, depth));
    }
    if (op == "Reshape" && node.input_size() > 1) return lengthOf(node.input(1), depth);
    if (op == "ArrayFeatureExtractor") {
        const auto rank = input(0);
        return rank ? std::optional(std::max<std::size_t>(*rank, 2)) : rank;
    }
    if (op == "Gather") {
        const auto data = input(0), indices = input(1);
        return data && indices && *data > 0 ? std::optional(*data + *indices - 1) : std::nullopt;
    }
    if (!broadcasts(op)) return {};
    std::optional<std::size_t> most = 0;
    for (int i = 0; i < node.input_size() && most; ++i) {
        const auto rank = op == "Expand" && i == 1 ? lengthOf(node.input(1), depth) : input(i);
        most = rank ? std::optional(std::max(*most, *rank)) : rank;
    }
    if (most && (op == "MatMul" || op == "FusedMatMul"))
        for (const std::string& factor : node.input())  // a vector has no row, or no column, in the product
            if (rankOf(factor, depth) == std::size_t{1} && *most > 0) --*most;
    return most;
}

std::optional<std::size_t> KnownShapes::lengthOf(const std::string& list, int depth) const {
    if (const auto known = m_dims.find(list);
        known != m_dims.end() && known->second.size() == 1 && known->second[0] >= 0)
        return known->second[0] <= kMostDims ? std::optional(static_cast<std::size_t>(known->second[0]))
                                             : std::nullopt;
    return fromProducer(m_lengths, &KnownShapes::lengthOf, list, depth,
                        [&](const onnx::NodeProto& node) { return computedLength(node, depth + 1); });
}

std::optional<std::size_t> KnownShapes::computedLength(const onnx::NodeProto& node, int depth) const {
    const std::string& op = node.op_type();
    if (node.input_size() == 0) return {};
    if (op == "Unsqueeze")
        return rankOf(node.input(0), depth) == std::size_t{0} ? std::optional<std::size_t>(1) : std::nullopt;
    if (op == "Cast" || op == "Identity") return lengthOf(node.input(0), depth);
    if (op == "Slice") return lengthOfSlice(node, depth);
    if (op == "Shape") {
        const auto* start = attributeOf(node, "start");
        const bool whole = (start == nullptr || start->i() == 0) && attributeOf(node, "end") == nullptr;
        return whole ? rankOf(node.input(0), depth) : std::nullopt;
    }
    if (op != "Concat") return {};
    std::size_t sum = 0;
    for (const std::string& part : node.input()) {
        const auto length = lengthOf(part, depth);
        if (!length) return {};
        sum = std::min(sum + *length, std::size_t{kMostDims});
    }
    return sum;
}

/// Returns the number of elements of a Slice of a list, such as the first two extents of a shape.
std::optional<std::size_t> KnownShapes::lengthOfSlice(const onnx::NodeProto& node, int depth) const {
    const auto whole = lengthOf(node.input(0), depth);
    if (!whole || node.input_size() < 3 || node.input_size() > 4) return {};
    const auto length = slicedExtent(node, static_cast<std::int64_t>(*whole));
    return length ? std::optional(static_cast<std::size_t>(*length)) : std::nullopt;
}

std::optional<std::int64_t> KnownShapes::slicedExtent(const onnx::NodeProto& node,
                                                      std::int64_t extent) const {
    const auto *from = listOf(node.input(1)), *to = listOf(node.input(2));
    if (from == nullptr || to == nullptr) return {};
    const auto bound = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    return std::max<std::int64_t>(bound(to->front()) - bound(from->front()), 0);
}

std::optional<std::size_t> KnownShapes::axesOf(const onnx::NodeProto& node, int depth) const {
    if (const auto* axes = attributeOf(node, "axes")) return static_cast<std::size_t>(axes->ints_size());
    return node.input_size() > 1 ? lengthOf(node.input(1), depth) : std::nullopt;
}

std::optional<std::int64_t> KnownShapes::widthOf(const std::string& tensor, int depth) const {
    if (const auto known = m_dims.find(tensor); known != m_dims.end() && !known->second.empty() &&
                                                known->second.back() > 0 && known->second.back() <= kWidest)
        return known->second.back();
    return fromProducer(m_widths, &KnownShapes::widthOf, tensor, depth,
                        [&](const onnx::NodeProto& node) { return computedWidth(node, tensor, depth + 1); });
}

std::optional<std::int64_t> KnownShapes::first(const std::string& tensor) const {
    const auto known = m_dims.find(tensor);
    if (known == m_dims.end()) return m_outer == nullptr ? std::nullopt : m_outer->first(tensor);
    const std::vector<std::int64_t>& dims = known->second;
    return dims.empty() || dims[0] < 1 || dims[0] > kWidest ? std::nullopt : std::optional(dims[0]);
}

/// Returns the width of one output of a Split, or of a Slice along the last dimension.
std::optional<std::int64_t> KnownShapes::widthOfPart(const onnx::NodeProto& node, const std::string& tensor,
                                                     int depth) const {
    const auto whole = widthOf(node.input(0), depth);
    const auto rank = rankOf(node.input(0), depth);
    const auto isLast = [&](std::int64_t axis) {
        return axis == -1 || (rank && axis == static_cast<std::int64_t>(*rank) - 1);
    };
    if (node.op_type() == "Slice") {
        const auto* axes = node.input_size() > 3 ? listOf(node.input(3)) : nullptr;
        if (axes == nullptr || axes->size() != 1 || node.input_size() > 4) return {};
        if (!isLast(axes->front())) return rank && axes->front() >= 0 ? whole : std::nullopt;
        return whole ? slicedExtent(node, *whole) : std::nullopt;
    }
    const auto* axis = attributeOf(node, "axis");
    const std::int64_t along = axis == nullptr ? 0 : axis->i();
    if (!isLast(along)) return rank && along >= 0 ? whole : std::nullopt;
    const auto output =
        static_cast<std::size_t>(std::ranges::find(node.output(), tensor) - node.output().begin());
    const auto* sizes = attributeOf(node, "split");
    const auto* list = node.input_size() > 1 ? listOf(node.input(1)) : nullptr;
    if (sizes != nullptr && static_cast<std::size_t>(sizes->ints_size()) > output)
        return sizes->ints(static_cast<int>(output));
    if (list != nullptr && list->size() > output) return (*list)[output];
    if (!whole || sizes != nullptr || node.input_size() > 1 || *whole % node.output_size() != 0) return {};
    return *whole / node.output_size();
}

/// Returns the width of a result of Concat, Gather or Transpose.
std::optional<std::int64_t> KnownShapes::widthAlongAxis(const onnx::NodeProto& node, int depth) const {
    const auto rank = rankOf(node.input(0), depth);
    const auto* order = attributeOf(node, "perm");
    if (!rank || *rank == 0) return {};
    if (node.op_type() == "Transpose")
        return order != nullptr && order->ints_size() == static_cast<int>(*rank) &&
                       order->ints(order->ints_size() - 1) == order->ints_size() - 1
                   ? widthOf(node.input(0), depth)
                   : std::nullopt;
    const auto* axis = attributeOf(node, "axis");
    const std::int64_t last = static_cast<std::int64_t>(*rank) - 1, given = axis == nullptr ? 0 : axis->i();
    if ((given < 0 ? given + last + 1 : given) != last) return widthOf(node.input(0), depth);
    if (node.op_type() != "Concat") return {};
    std::int64_t sum = 0;
    for (const std::string& part : node.input()) {
        const auto width = widthOf(part, depth);
        if (!width) return {};
        sum += *width;
    }
    return sum;
}

std::optional<std::int64_t> KnownShapes::computedWidth(const onnx::NodeProto& node, const std::string& tensor,
                                                       int depth) const {
    const std::string& op = node.op_type();
    const auto possible = [](std::optional<std::int64_t> width) {
        return width && *width > 0 && *width <= kWidest ? width : std::nullopt;
    };
    if (op == "If") return ofBranches(node, tensor, &KnownShapes::widthOf, depth);
    if (node.input_size() == 0) return {};
    if (keepsWidth(op, node.input_size())) return widthOf(node.input(0), depth);
    if (op == "Split" || op == "Slice") return possible(widthOfPart(node, tensor, depth));
    if (isOneOf(op, {"Concat", "Gather", "Transpose"})) return possible(widthAlongAxis(node, depth));
    if (node.input_size() < 2) return {};
    if (op == "EmbedLayerNormalization" && node.input_size() > 2) return widthOf(node.input(2), depth);
    if (op == "GroupQueryAttention" && !node.input(1).empty()) return widthOf(node.input(0), depth);
    if (const auto* columns = attributeOf(node, "N"); columns != nullptr && op == "MatMulNBits")
        return possible(columns->i());
    const auto* transposed = attributeOf(node, "transB");
    if (op == "MatMul" || (op == "FusedMatMul" && (transposed == nullptr || transposed->i() == 0)))
        return rankOf(node.input(1), depth) == std::size_t{1} ? std::nullopt : widthOf(node.input(1), depth);
    if (const auto* shape = listOf(node.input(1)); op == "Reshape" && shape != nullptr)
        return possible(shape->back());
    if (isElementwise(op))
        for (const std::string& input : node.input())
            if (const auto width = widthOf(input, depth); width && *width != 1) return width;
    return {};
}

}  // namespace quantloupe
