// SPDX-License-Identifier: Apache-2.0
#include "model/fused_body.h"

#include "base/error.h"

namespace quantloupe {

FusedBody::FusedBody(const onnx::NodeProto& node, std::vector<onnx::GraphProto*> graphs,
                     const KnownShapes& shapes, std::int64_t opset)
    : m_node(node), m_graphs(std::move(graphs)), m_shapes(shapes), m_opset(opset) {
    for (int i = 0; i < node.input_size(); ++i) m_function.add_input("in" + std::to_string(i));
}

bool FusedBody::has(int input) const {
    m_readInputs.insert(input);
    return input >= 0 && input < m_node.input_size() && !m_node.input(input).empty();
}

std::optional<std::size_t> FusedBody::rank(int input) const {
    return has(input) ? m_shapes.rank(m_node.input(input)) : std::nullopt;
}

std::optional<std::int64_t> FusedBody::width(int input) const {
    return has(input) ? m_shapes.width(m_node.input(input)) : std::nullopt;
}

std::optional<std::int64_t> FusedBody::first(int input) const {
    return has(input) ? m_shapes.first(m_node.input(input)) : std::nullopt;
}

void FusedBody::setWidth(int input, std::int64_t width) {
    if (!has(input)) return;
    for (onnx::ValueInfoProto& value : *m_graphs.back()->mutable_input()) {
        if (value.name() != m_node.input(input)) continue;
        auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
        if (shape.dim_size() == 0) return;
        if (auto& last = *shape.mutable_dim(shape.dim_size() - 1); !last.has_dim_value())
            last.set_dim_value(width);
    }
}

std::optional<ConstantChange> FusedBody::find(int input, bool reshaped) const {
    if (!has(input)) return std::nullopt;
    std::string name = m_node.input(input);
    if (reshaped)
        for (const onnx::GraphProto* graph : m_graphs)
            for (const onnx::NodeProto& node : graph->node())
                if (node.op_type() == "Reshape" && node.input_size() > 0 && node.output_size() > 0 &&
                    node.output(0) == m_node.input(input))
                    name = node.input(0);
    for (onnx::GraphProto* graph : m_graphs)
        for (onnx::TensorProto& tensor : *graph->mutable_initializer())
            if (tensor.name() == name) return ConstantChange{input, graph, &tensor};
    return std::nullopt;
}

const onnx::TensorProto* FusedBody::initializer(int input, bool reshaped) const {
    const auto found = find(input, reshaped);
    return found ? found->constant : nullptr;
}

void FusedBody::retype(int input, int type, std::int64_t rows, std::int64_t columns,
                       std::optional<std::string> bytes) {
    ConstantChange change = find(input, true).value();
    change.type = type;
    change.rows = rows;
    change.columns = columns;
    change.bytes = std::move(bytes);
    m_changes.push_back(std::move(change));
}

const onnx::AttributeProto* FusedBody::attribute(const std::string& name) const {
    m_readAttributes.insert(name);
    for (const auto& attribute : m_node.attribute())
        if (attribute.name() == name) return &attribute;
    return nullptr;
}

std::int64_t FusedBody::integer(const std::string& name, std::int64_t otherwise) const {
    const auto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
}

float FusedBody::real(const std::string& name, float otherwise) const {
    const auto* found = attribute(name);
    return found == nullptr ? otherwise : found->f();
}

std::string FusedBody::text(const std::string& name) const {
    const auto* found = attribute(name);
    return found == nullptr ? "" : found->s();
}

std::int64_t FusedBody::heads(const std::string& name) const {
    const std::int64_t count = integer(name, 0);
    if (count < 1 || count > 65536) failInput("{} is {}, which is not a number of heads", name, count);
    return count;
}

FusedBody::Operand FusedBody::add(const std::string& op, std::initializer_list<Operand> inputs,
                                  std::initializer_list<Attribute> attributes, const std::string& domain) {
    onnx::NodeProto& node = *m_function.add_node();
    const int count = ++m_counts[op];
    node.set_op_type(op);
    node.set_domain(domain);
    node.set_name(count == 1 ? op : fmt::format("{}_{}", op, count));
    for (const Operand& input : inputs) node.add_input(input);
    while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
        node.mutable_input()->RemoveLast();
    for (const Attribute& given : attributes) {
        onnx::AttributeProto& attribute = *node.add_attribute();
        attribute.set_name(given.name);
        if (const auto* i = std::get_if<std::int64_t>(&given.value)) {
            attribute.set_type(onnx::AttributeProto::INT);
            attribute.set_i(*i);
        } else if (const auto* f = std::get_if<float>(&given.value)) {
            attribute.set_type(onnx::AttributeProto::FLOAT);
            attribute.set_f(*f);
        } else if (const auto* s = std::get_if<std::string>(&given.value)) {
            attribute.set_type(onnx::AttributeProto::STRING);
            attribute.set_s(*s);
        } else if (const auto* floats = std::get_if<std::vector<float>>(&given.value)) {
            attribute.set_type(onnx::AttributeProto::FLOATS);
            for (const float value : *floats) attribute.add_floats(value);
        } else {
            attribute.set_type(onnx::AttributeProto::INTS);
            for (const std::int64_t value : std::get<std::vector<std::int64_t>>(given.value))
                attribute.add_ints(value);
        }
    }
    node.add_output(node.name() + "_output");
    return node.output(0);
}

FusedBody::Operand FusedBody::constant(std::initializer_list<Attribute> attributes, const std::string& key) {
    if (const auto known = m_constants.find(key); known != m_constants.end()) return known->second;
    return m_constants[key] = add("Constant", {}, attributes);
}

FusedBody::Operand FusedBody::number(float value) {
    return constant({{"value_float", value}}, fmt::format("float {}", value));
}

FusedBody::Operand FusedBody::integer(std::int64_t value) {
    return constant({{"value_int", value}}, fmt::format("int {}", value));
}

FusedBody::Operand FusedBody::filled(int type, std::int64_t rows, std::int64_t columns, int byte,
                                     std::int64_t bits) {
    Operand constant = add("Constant", {});
    onnx::AttributeProto& attribute = *last().add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    onnx::TensorProto& tensor = *attribute.mutable_t();
    tensor.set_data_type(type);
    tensor.add_dims(rows);
    tensor.add_dims(columns);
    tensor.set_raw_data(
        std::string(static_cast<std::size_t>((rows * columns * bits + 7) / 8), static_cast<char>(byte)));
    return constant;
}

FusedBody::Operand FusedBody::numbers(std::vector<std::int64_t> values) {
    std::string key = "ints";
    for (const std::int64_t value : values) key += fmt::format(" {}", value);
    return constant({{"value_ints", std::move(values)}}, key);
}

FusedBody::Operand FusedBody::floats(std::vector<float> values) {
    const std::string key = fmt::format("floats {}", fmt::join(values, " "));
    return constant({{"value_floats", std::move(values)}}, key);
}

FusedBody::Operand FusedBody::inFloat(const Operand& operand) {
    return add("Cast", {operand}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
}

FusedBody::Operand FusedBody::unsqueeze(const Operand& operand, std::int64_t axis) {
    if (m_opset < 13) return add("Unsqueeze", {operand}, {{"axes", std::vector{axis}}});
    return add("Unsqueeze", {operand, numbers({axis})});
}

FusedBody::Operand FusedBody::sum(const Operand& operand, std::int64_t axis) {
    const Attribute removed{"keepdims", std::int64_t{0}};
    if (m_opset < 13) return add("ReduceSum", {operand}, {{"axes", std::vector{axis}}, removed});
    return add("ReduceSum", {operand, numbers({axis})}, {removed});
}

FusedBody::Operand FusedBody::slice(const Operand& operand, std::int64_t axis, std::int64_t from,
                                    std::int64_t to) {
    using Values = std::vector<std::int64_t>;
    if (m_opset < 10)
        return add("Slice", {operand},
                   {{"axes", Values{axis}}, {"starts", Values{from}}, {"ends", Values{to}}});
    return add("Slice", {operand, numbers({from}), numbers({to}), numbers({axis})});
}

FusedBody::Operand FusedBody::range(const Operand& from, const Operand& to) {
    return add("Range", {from, to, integer(1)});
}

FusedBody::Operand FusedBody::extent(const Operand& operand, std::int64_t axis) {
    return add("Gather", {add("Shape", {operand}), integer(axis)}, {{"axis", std::int64_t{0}}});
}

FusedBody::Operand FusedBody::clip(const Operand& operand, float low, float high) {
    if (m_opset < 11) return add("Clip", {operand}, {{"min", low}, {"max", high}});
    return add("Clip", {operand, number(low), number(high)});
}

void FusedBody::setOutput(int output, const Operand& operand) { m_outputs[output] = operand; }

onnx::FunctionProto FusedBody::finish(const std::string& domain, const std::string& name) {
    for (const auto& attribute : m_node.attribute())
        if (!m_readAttributes.contains(attribute.name()))
            fail(ErrorKind::Unsupported, "its attribute '{}' is not supported", attribute.name());
    for (int i = 0; i < m_node.input_size(); ++i)
        if (!m_node.input(i).empty() && !m_readInputs.contains(i))
            fail(ErrorKind::Unsupported, "input {} of {} is not supported", i, m_node.op_type());
    m_function.set_domain(domain);
    m_function.set_name(name);
    for (int o = 0; o < m_node.output_size(); ++o) {
        const auto set = m_outputs.find(o);
        if (set == m_outputs.end() && wants(o))
            fail(ErrorKind::Unsupported, "output {} of {} is not supported", o, m_node.op_type());
        m_function.add_output(set == m_outputs.end() ? "" : set->second);
    }
    return std::move(m_function);
}

void refuse(bool unsupported, const char* what) {
    if (unsupported) fail(ErrorKind::Unsupported, "{} is not supported", what);
}

}  // namespace quantloupe
