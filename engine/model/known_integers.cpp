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

/// Whether the output has the elements of the first input, and is a list if that is one.
bool passesOn(const std::string& op, std::size_t elements) {
    return op == "Identity" || (elements == 1 && isOneOf(op, {"Squeeze", "Unsqueeze", "Reshape", "Flatten"}));
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
            List& dims = m_dims[value.name()];
            dims.clear();
            for (const auto& dim : value.type().tensor_type().shape().dim())
                dims.push_back(dim.dim_value() > 0 ? std::optional(dim.dim_value()) : std::nullopt);
        }
    for (const auto& tensor : graph.initializer()) {
        m_dims[tensor.name()] = List(tensor.dims().begin(), tensor.dims().end());
        const auto values = integersOf(tensor);
        m_values[tensor.name()] = values ? Known(List(values->begin(), values->end())) : std::nullopt;
    }
    for (const auto& node : graph.node())
        if (isStandardDomain(node.domain()))
            for (const std::string& output : node.output()) m_producers[output] = &node;
}

std::optional<std::int64_t> KnownIntegers::scalar(const std::string& tensor) {
    const Known known = valueOf(tensor, 0);
    return known && known->size() == 1 ? known->front() : std::nullopt;
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
            const auto values = integersOf(value->t());
            return values ? Known(List(values->begin(), values->end())) : std::nullopt;
        }
        if (const auto* value = attributeOf(node, "value_int")) return List{value->i()};
        if (const auto* value = attributeOf(node, "value_ints"))
            return List(value->ints().begin(), value->ints().end());
        return std::nullopt;
    }
    if (node.input_size() == 0) return std::nullopt;
    if (op == "Shape") return shapeOf(node);
    const auto input = [&](int i) { return i < node.input_size() ? valueOf(node.input(i), depth) : Known(); };
    if (op == "Size") {
        const auto dims = m_dims.find(node.input(0));
        if (dims == m_dims.end()) return std::nullopt;
        std::optional<std::int64_t> product = 1;
        for (const auto& dim : dims->second)
            product = product && dim ? resultOf("Mul", *product, *dim) : std::nullopt;
        return List{product};
    }
    if (op == "Concat") {
        List joined;
        for (int i = 0; i < node.input_size(); ++i) {
            const Known part = input(i);
            if (!part) return std::nullopt;
            joined.insert(joined.end(), part->begin(), part->end());
        }
        return joined;
    }
    const Known first = input(0);
    if (!first) return std::nullopt;
    if (passesOn(op, first->size())) return first;
    if (op == "Slice") return sliced(node, depth);
    if (op == "Cast") {
        const std::int64_t type = integerOf(node, "to", 0);
        if (!isInteger(type)) return std::nullopt;
        List cast = *first;
        if (type == onnx::TensorProto::BOOL)
            for (auto& element : cast)
                if (element) element = *element != 0;
        return cast;
    }
    if (op == "Not") {
        List inverted = *first;
        for (auto& element : inverted)
            if (element) element = *element == 0;
        return inverted;
    }
    const Known second = input(1);
    if (!second || node.input_size() > 2) return std::nullopt;
    if (op == "Gather") {
        List gathered;
        const auto count = static_cast<std::int64_t>(first->size());
        for (const auto& index : *second) {
            if (!index || *index < -count || *index >= count) return std::nullopt;
            gathered.push_back((*first)[static_cast<std::size_t>(*index < 0 ? *index + count : *index)]);
        }
        return gathered;
    }
    const std::size_t count = std::max(first->size(), second->size());
    if ((first->size() != count && first->size() != 1) || (second->size() != count && second->size() != 1))
        return std::nullopt;
    List result(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto a = (*first)[first->size() == 1 ? 0 : i], b = (*second)[second->size() == 1 ? 0 : i];
        if (a && b) result[i] = resultOf(op, *a, *b);
    }
    return result;
}

KnownIntegers::Known KnownIntegers::shapeOf(const onnx::NodeProto& node) const {
    const auto dims = m_dims.find(node.input(0));
    if (dims == m_dims.end()) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(dims->second.size());
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = place(integerOf(node, "start", 0)), end = place(integerOf(node, "end", rank));
    return start >= end ? List() : List(dims->second.begin() + start, dims->second.begin() + end);
}

/// The only axis of a list, forward and without steps.
KnownIntegers::Known KnownIntegers::sliced(const onnx::NodeProto& node, int depth) {
    const Known list = valueOf(node.input(0), depth);
    const auto single = [&](int i, const char* name, std::int64_t otherwise) -> std::optional<std::int64_t> {
        if (i < node.input_size() && !node.input(i).empty()) {
            const Known known = valueOf(node.input(i), depth);
            return known && known->size() == 1 ? known->front() : std::nullopt;
        }
        const auto* attribute = attributeOf(node, name);
        return attribute == nullptr          ? otherwise
               : attribute->ints_size() == 1 ? std::optional(attribute->ints(0))
                                             : std::nullopt;
    };
    const auto count = static_cast<std::int64_t>(list->size());
    const auto start = single(1, "starts", 0), end = single(2, "ends", count), step = single(4, "steps", 1);
    if (!start || !end || step != 1) return std::nullopt;
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
    };
    const std::int64_t from = place(*start), to = place(*end);
    return from >= to ? List() : List(list->begin() + from, list->begin() + to);
}

}  // namespace quantloupe
