// SPDX-License-Identifier: Apache-2.0
#include "model/known_integers.h"

#include <algorithm>

#include "base/is_one_of.h"
#include "model/onnx_proto.h"

namespace quantloupe {
namespace {

constexpr int kMostSteps = 200;  ///< nodes to look back
/// Results from larger numbers, which no size of a tensor is, count as unknown, so that nothing overflows.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 31;

bool isSmall(std::int64_t value) { return value <= kMostCounted && value >= -kMostCounted; }

std::int64_t integerOf(const onnx::NodeProto& node, const std::string& name, std::int64_t otherwise) {
    const auto* attribute = attributeOf(node, name);
    return attribute == nullptr ? otherwise : attribute->i();
}

/// Whether an operator works along the only axis of a list.
bool isAlongList(std::int64_t axis) { return axis == 0 || axis == -1; }

bool isArithmetic(const std::string& op) {
    return isOneOf(op, {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor",
                        "Max", "Min", "Add", "Sub", "Mul", "Div"});
}

std::optional<std::int64_t> resultOf(const std::string& op, std::int64_t a, std::int64_t b) {
    if (op == "Equal") return a == b;
    if (op == "Less") return a < b;
    if (op == "LessOrEqual") return a <= b;
    if (op == "Greater") return a > b;
    if (op == "GreaterOrEqual") return a >= b;
    if (op == "And") return a != 0 && b != 0;
    if (op == "Or") return a != 0 || b != 0;
    if (op == "Xor") return (a != 0) != (b != 0);
    if (op == "Max") return std::max(a, b);
    if (op == "Min") return std::min(a, b);
    if (!isSmall(a) || !isSmall(b)) return std::nullopt;
    if (op == "Add") return a + b;
    if (op == "Sub") return a - b;
    if (op == "Mul") return a * b;
    if (op == "Div") return b == 0 ? std::nullopt : std::optional(a / b);
    return std::nullopt;
}

bool isInteger(std::int64_t type) {
    return type == onnx::TensorProto::INT64 || type == onnx::TensorProto::INT32 ||
           type == onnx::TensorProto::BOOL;
}

}  // namespace

KnownIntegers::KnownIntegers(const onnx::GraphProto& graph, const onnx::GraphProto& shapes) {
    for (const auto* values : {&graph.input(), &shapes.value_info()})
        for (const auto& value : *values) {
            if (!value.type().tensor_type().has_shape()) continue;
            Elements& dims = m_dims[value.name()];
            dims.clear();
            for (const auto& dim : value.type().tensor_type().shape().dim())
                dims.push_back(dim.dim_value() > 0 ? std::optional(dim.dim_value()) : std::nullopt);
        }
    for (const auto& tensor : graph.initializer()) {
        m_dims[tensor.name()] = Elements(tensor.dims().begin(), tensor.dims().end());
        const auto values = tensor.dims_size() > 1 ? std::nullopt : integersOf(tensor);
        m_values[tensor.name()] =
            values ? Known({tensor.dims_size() == 1, Elements(values->begin(), values->end())})
                   : std::nullopt;
    }
    for (const auto& node : graph.node())
        if (isStandardDomain(node.domain()))
            for (const std::string& output : node.output()) m_producers[output] = &node;
}

std::optional<std::int64_t> KnownIntegers::scalar(const std::string& tensor) {
    const Known known = valueOf(tensor, 0);
    return known && known->elements.size() == 1 ? known->elements.front() : std::nullopt;
}

KnownIntegers::Known KnownIntegers::valueOf(const std::string& tensor, int depth) {
    if (const auto known = m_values.find(tensor); known != m_values.end()) return known->second;
    const auto producer = m_producers.find(tensor);
    if (producer == m_producers.end() || depth > kMostSteps) return std::nullopt;
    m_values[tensor] = std::nullopt;  // within a circle
    const onnx::NodeProto& node = *producer->second;
    return m_values[tensor] = node.output(0) == tensor ? computed(node, depth + 1) : std::nullopt;
}

KnownIntegers::Known KnownIntegers::computed(const onnx::NodeProto& node, int depth) {
    const std::string& op = node.op_type();
    if (op == "Constant") {
        if (const auto* value = attributeOf(node, "value"); value != nullptr && value->has_t()) {
            const auto values = value->t().dims_size() > 1 ? std::nullopt : integersOf(value->t());
            return values ? Known({value->t().dims_size() == 1, Elements(values->begin(), values->end())})
                          : std::nullopt;
        }
        if (const auto* value = attributeOf(node, "value_int")) return Value{false, {value->i()}};
        if (const auto* value = attributeOf(node, "value_ints"))
            return Value{true, Elements(value->ints().begin(), value->ints().end())};
        return std::nullopt;
    }
    if (node.input_size() == 0) return std::nullopt;
    if (op == "Shape") return dimensionsOf(node);
    if (op == "Concat") return joined(node, depth);
    if (op == "Size") {
        const auto dims = m_dims.find(node.input(0));
        if (dims == m_dims.end()) return std::nullopt;
        std::optional<std::int64_t> product = 1;
        for (const auto& dim : dims->second)
            product = product && dim ? resultOf("Mul", *product, *dim) : std::nullopt;
        return Value{false, {product}};
    }
    const auto input = [&](int i) { return i < node.input_size() ? valueOf(node.input(i), depth) : Known(); };
    Known first = input(0);
    if (!first) return std::nullopt;
    if (op == "Identity") return first;
    if (op == "Slice") return sliced(node, *first, depth);
    if (op == "Squeeze" || op == "Unsqueeze") {
        if (first->isList != (op == "Squeeze") || first->elements.size() != 1) return std::nullopt;
        return Value{op == "Unsqueeze", first->elements};
    }
    if (op == "Cast" || op == "Not") {
        const std::int64_t type =
            op == "Not" ? std::int64_t{onnx::TensorProto::BOOL} : integerOf(node, "to", 0);
        if (!isInteger(type)) return std::nullopt;
        for (auto& element : first->elements)
            if (element && type == onnx::TensorProto::BOOL) element = (*element != 0) != (op == "Not");
        return first;
    }
    const Known second = input(1);
    if (!second || node.input_size() > 2) return std::nullopt;
    if (op == "Reshape") {  // of one or all elements to a list, or of one to a scalar
        const Elements& shape = second->elements;
        if (!second->isList || shape.size() > 1 || (shape.empty() && first->elements.size() != 1))
            return std::nullopt;
        const auto count = static_cast<std::int64_t>(first->elements.size());
        if (!shape.empty() && shape[0] != -1 && shape[0] != count) return std::nullopt;
        return Value{!shape.empty(), first->elements};
    }
    if (op == "Gather")
        return isAlongList(integerOf(node, "axis", 0)) ? gathered(*first, *second) : std::nullopt;
    if (!isArithmetic(op)) return std::nullopt;
    const Elements &a = first->elements, &b = second->elements;
    const std::size_t count = std::max(a.size(), b.size());
    if ((a.size() != count && a.size() != 1) || (b.size() != count && b.size() != 1)) return std::nullopt;
    Value result{first->isList || second->isList, Elements(count)};
    for (std::size_t i = 0; i < count; ++i) {
        const auto left = a[a.size() == 1 ? 0 : i], right = b[b.size() == 1 ? 0 : i];
        if (left && right) result.elements[i] = resultOf(op, *left, *right);
    }
    return result;
}

KnownIntegers::Known KnownIntegers::joined(const onnx::NodeProto& node, int depth) {
    if (!isAlongList(integerOf(node, "axis", 0))) return std::nullopt;
    Value all{true, {}};
    for (const std::string& name : node.input()) {
        const Known part = valueOf(name, depth);
        if (!part || !part->isList) return std::nullopt;
        all.elements.insert(all.elements.end(), part->elements.begin(), part->elements.end());
    }
    return all;
}

KnownIntegers::Known KnownIntegers::gathered(const Value& list, const Value& indices) {
    if (!list.isList) return std::nullopt;
    Value found{indices.isList, {}};
    const auto count = static_cast<std::int64_t>(list.elements.size());
    for (const auto& index : indices.elements) {
        if (!index || *index < -count || *index >= count) return std::nullopt;
        found.elements.push_back(
            list.elements[static_cast<std::size_t>(*index < 0 ? *index + count : *index)]);
    }
    return found;
}

KnownIntegers::Known KnownIntegers::dimensionsOf(const onnx::NodeProto& node) const {
    const auto dims = m_dims.find(node.input(0));
    if (dims == m_dims.end()) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(dims->second.size());
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = place(integerOf(node, "start", 0)), end = place(integerOf(node, "end", rank));
    return Value{
        true, start >= end ? Elements() : Elements(dims->second.begin() + start, dims->second.begin() + end)};
}

/// Along the only axis, forward and without steps.
KnownIntegers::Known KnownIntegers::sliced(const onnx::NodeProto& node, const Value& list, int depth) {
    if (!list.isList) return std::nullopt;
    const auto single = [&](int i, const char* name, std::int64_t otherwise) -> std::optional<std::int64_t> {
        if (i < node.input_size() && !node.input(i).empty()) {
            const Known known = valueOf(node.input(i), depth);
            return known && known->elements.size() == 1 ? known->elements.front() : std::nullopt;
        }
        const auto* attribute = attributeOf(node, name);
        return attribute == nullptr          ? otherwise
               : attribute->ints_size() == 1 ? std::optional(attribute->ints(0))
                                             : std::nullopt;
    };
    const auto count = static_cast<std::int64_t>(list.elements.size());
    const auto start = single(1, "starts", 0), end = single(2, "ends", count), axis = single(3, "axes", 0),
               step = single(4, "steps", 1);
    if (!start || !end || step != 1 || !axis || !isAlongList(*axis)) return std::nullopt;
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
    };
    const std::int64_t from = place(*start), to = place(*end);
    return Value{
        true, from >= to ? Elements() : Elements(list.elements.begin() + from, list.elements.begin() + to)};
}

}  // namespace quantloupe
