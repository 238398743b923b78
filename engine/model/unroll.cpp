// SPDX-License-Identifier: Apache-2.0
#include "model/unroll.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/infer_shapes.h"
#include "model/known_integers.h"
#include "model/onnx_proto.h"
#include "model/subgraphs.h"
#include "model/tensor_lists.h"
#include "model/unread_nodes.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kMaxIterations = 256;
// The most that unrolling may add.
constexpr std::size_t kMaxParts = 20000;  ///< nodes and initializers
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxListed = 1'000'000;  ///< tensors in all sequences together

class Unroller {
  public:
    Unroller(onnx::ModelProto& model, std::int64_t opset)
        : m_model(model), m_graph(*model.mutable_graph()), m_opset(opset) {
        collectNames(m_graph, m_names);
    }

    std::size_t run() {
        std::size_t unrolled = 0;
        for (bool changed = true; changed && m_added < kMaxParts;) {
            changed = false;
            google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
            nodes.Swap(m_graph.mutable_node());
            readConstants(nodes);
            for (onnx::NodeProto& node : nodes) {
                if (!isStandardDomain(node.domain()) || !(unrollIf(node) || unrollLoop(node))) {
                    *m_graph.add_node() = std::move(node);
                } else {
                    changed = true;
                    ++unrolled;
                }
            }
            applyAliases();
            changed = changed || decideConditions();
        }
        if (!m_decided.empty()) removeUnread(m_graph, ancestorsOf(m_graph, m_decided));
        if (resolveSequences()) ++unrolled;
        return unrolled;
    }

  private:
    void readConstants(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
        m_scalars.clear();
        for (const auto& tensor : m_graph.initializer())
            if (const auto value = scalarOf(tensor)) m_scalars[tensor.name()] = *value;
        for (const onnx::NodeProto& node : nodes) noteConstant(node, m_scalars);
        m_scalars.insert(m_decided.begin(), m_decided.end());
    }

    /// Finds the conditions that follow from the shapes of the inputs. Returns whether there are new ones. An
    /// If can hide the shapes that decide the next one.
    bool decideConditions() {
        constexpr int kMostRounds = 32;  // each of them infers the shapes of the whole network
        std::vector<std::string> conditions;
        for (const onnx::NodeProto& node : m_graph.node())
            if (node.op_type() == "If" && node.input_size() == 1 && !scalar(node.input(0)))
                conditions.push_back(node.input(0));
        if (conditions.empty() || m_rounds++ == kMostRounds) return false;
        const onnx::GraphProto shapes = shapesFromInputs(m_model);
        KnownIntegers known(m_graph, shapes);
        bool found = false;
        for (const std::string& condition : conditions)
            if (const auto value = known.scalar(condition))
                found = m_decided.emplace(condition, *value).second || found;
        return found;
    }

    static void noteConstant(const onnx::NodeProto& node, std::map<std::string, std::int64_t>& scalars) {
        if (node.output_size() != 1) return;
        if (node.op_type() == "Identity" && node.input_size() == 1) {
            if (const auto known = scalars.find(node.input(0)); known != scalars.end())
                scalars[node.output(0)] = known->second;
        } else if (node.op_type() == "Constant" && node.attribute_size() == 1) {
            const auto& attribute = node.attribute(0);
            const auto value = attribute.has_t()                 ? scalarOf(attribute.t())
                               : attribute.name() == "value_int" ? std::optional<std::int64_t>(attribute.i())
                                                                 : std::nullopt;
            if (value) scalars[node.output(0)] = *value;
        }
    }

    std::optional<std::int64_t> scalar(const std::string& name) const {
        const auto found = m_scalars.find(name);
        return found == m_scalars.end() ? std::nullopt : std::optional(found->second);
    }

    static const onnx::GraphProto* subgraph(const onnx::NodeProto& node, const char* name) {
        for (const auto& attribute : node.attribute())
            if (attribute.name() == name && attribute.has_g()) return &attribute.g();
        return nullptr;
    }

    bool unrollIf(const onnx::NodeProto& node) {
        if (node.op_type() != "If" || node.input_size() != 1) return false;
        const auto condition = scalar(node.input(0));
        if (!condition) return false;
        const onnx::GraphProto* branch = subgraph(node, *condition != 0 ? "then_branch" : "else_branch");
        if (branch == nullptr || branch->input_size() != 0 || branch->output_size() < node.output_size() ||
            !fits(*branch, 1))
            return false;
        const auto names = insert(*branch, {}, unusedPrefix(node, *branch));
        for (int o = 0; o < node.output_size(); ++o)
            if (!node.output(o).empty()) alias(node.output(o), mapped(names, branch->output(o).name()));
        return true;
    }

    /// The body's condition must be constant true as well.
    bool endless(const onnx::GraphProto& body) const {
        std::map<std::string, std::int64_t> scalars = m_scalars;
        for (const auto& tensor : body.initializer())
            if (const auto value = scalarOf(tensor)) scalars[tensor.name()] = *value;
        scalars[body.input(1).name()] = 1;
        for (const onnx::NodeProto& inner : body.node()) noteConstant(inner, scalars);
        const auto found = scalars.find(body.output(0).name());
        return found != scalars.end() && found->second != 0;
    }

    bool unrollLoop(const onnx::NodeProto& node) {
        if (node.op_type() != "Loop" || node.input_size() < 2) return false;
        const onnx::GraphProto* body = subgraph(node, "body");
        const auto count = scalar(node.input(0));
        const auto condition = node.input(1).empty() ? std::optional<std::int64_t>(1) : scalar(node.input(1));
        const int carried = node.input_size() - 2;
        // Scan outputs would need shapes; they are left to the operator itself.
        if (body == nullptr || !count || *count < 0 || *count > kMaxIterations || condition != 1 ||
            body->input_size() != carried + 2 || body->output_size() != carried + 1 ||
            node.output_size() > carried || !endless(*body) || !fits(*body, static_cast<std::size_t>(*count)))
            return false;
        const std::string name = unusedPrefix(node, *body, *count);
        std::vector<std::string> values(node.input().begin() + 2, node.input().end());
        for (std::int64_t i = 0; i < *count; ++i) {
            const std::string prefix = fmt::format("{}{}/", name, i);
            std::map<std::string, std::string> inputs{
                {body->input(0).name(),
                 addScalar(prefix + "iteration", onnx::TensorProto::INT64, i, &body->input(0))},
                {body->input(1).name(),
                 addScalar(prefix + "condition", onnx::TensorProto::BOOL, 1, &body->input(1))}};
            for (int k = 0; k < carried; ++k)
                inputs[body->input(k + 2).name()] = values[static_cast<std::size_t>(k)];
            const auto names = insert(*body, inputs, prefix);
            for (int k = 0; k < carried; ++k)
                values[static_cast<std::size_t>(k)] = mapped(names, body->output(k + 1).name());
        }
        for (int k = 0; k < node.output_size(); ++k)
            if (!node.output(k).empty()) alias(node.output(k), values[static_cast<std::size_t>(k)]);
        return true;
    }

    static std::size_t partsOf(const onnx::GraphProto& body) {
        return static_cast<std::size_t>(body.node_size()) + static_cast<std::size_t>(body.initializer_size());
    }

    /// Whether this number of copies of the body can be added.
    bool fits(const onnx::GraphProto& body, std::size_t copies) const {
        return m_added + copies * partsOf(body) <= kMaxParts &&
               m_addedBytes + copies * body.ByteSizeLong() <= kMaxBytes;
    }

    /// Returns an unused prefix for the names of the nodes and tensors of `body` that replace `node`, which
    /// get a number, too, if there are `times` copies. Other nodes may have the same name.
    std::string unusedPrefix(const onnx::NodeProto& node, const onnx::GraphProto& body,
                             std::int64_t times = 0) {
        const std::string name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
        std::string prefix = name + "/";
        const auto used = [&] { return clashes(prefix, body, times) || !m_prefixes.insert(prefix).second; };
        for (int n = 1; used(); ++n) prefix = fmt::format("{}_{}/", name, n);
        return prefix;
    }

    /// Whether a tensor of `body` would get a name that the graph already has.
    bool clashes(const std::string& prefix, const onnx::GraphProto& body, std::int64_t times) const {
        const auto next = m_names.lower_bound(prefix);
        if (next == m_names.end() || !next->starts_with(prefix)) return false;
        const auto taken = [&](const std::string& name) {
            if (times == 0) return m_names.contains(prefix + name);
            for (std::int64_t i = 0; i < times; ++i)
                if (m_names.contains(fmt::format("{}{}/{}", prefix, i, name))) return true;
            return false;
        };
        const auto isTaken = [&](const auto& tensor) { return taken(tensor.name()); };
        if (times > 0 && (taken("iteration") || taken("condition"))) return true;
        return std::ranges::any_of(body.initializer(), isTaken) ||
               std::ranges::any_of(
                   body.node(), [&](const auto& node) { return std::ranges::any_of(node.output(), taken); });
    }

    static std::string mapped(const std::map<std::string, std::string>& names, const std::string& name) {
        const auto found = names.find(name);
        return found == names.end() ? name : found->second;
    }

    /// `input`: the body's input that gets the value. Exporters declare some as [1] and read them where one
    /// dimension is required, for example as the starts of a Slice; ONNX Runtime passes them in that shape.
    std::string addScalar(const std::string& name, onnx::TensorProto::DataType type, std::int64_t value,
                          const onnx::ValueInfoProto* input = nullptr) {
        onnx::TensorProto& tensor = *m_graph.add_initializer();
        if (input != nullptr && input->type().tensor_type().shape().dim_size() == 1) tensor.add_dims(1);
        tensor.set_name(name);
        tensor.set_data_type(type);
        if (type == onnx::TensorProto::BOOL)
            tensor.add_int32_data(value != 0 ? 1 : 0);
        else
            tensor.add_int64_data(value);
        return name;
    }

    /// Adds a copy of a body's nodes with unique names. Returns a map from the body's names to the new ones.
    std::map<std::string, std::string> insert(const onnx::GraphProto& body,
                                              std::map<std::string, std::string> names,
                                              const std::string& prefix) {
        m_added += partsOf(body);
        m_addedBytes += body.ByteSizeLong();
        for (const auto& tensor : body.initializer()) {
            names[tensor.name()] = prefix + tensor.name();
            *m_graph.add_initializer() = tensor;
            m_graph.mutable_initializer()->rbegin()->set_name(prefix + tensor.name());
        }
        for (const auto& node : body.node())
            for (const std::string& out : node.output())
                if (!out.empty()) names[out] = prefix + out;
        for (const auto& node : body.node()) {
            onnx::NodeProto& copy = *m_graph.add_node() = node;
            copy.set_name(prefix + node.name());
            for (std::string& in : *copy.mutable_input()) in = mapped(names, in);
            for (std::string& out : *copy.mutable_output()) out = mapped(names, out);
            for (auto& attribute : *copy.mutable_attribute())
                if (attribute.has_g()) renameCaptured(*attribute.mutable_g(), names);
        }
        return names;
    }

    void alias(const std::string& from, const std::string& to) { m_aliases[from] = to; }

    /// Makes readers of an alias read its target; graph outputs keep their names.
    void applyAliases() {
        if (m_aliases.empty()) return;
        for (auto& [from, to] : m_aliases)
            for (std::size_t steps = 0; steps < m_aliases.size() && m_aliases.contains(to); ++steps)
                to = m_aliases[to];
        for (auto& node : *m_graph.mutable_node()) {
            for (std::string& in : *node.mutable_input()) in = mapped(m_aliases, in);
            for (auto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) renameCaptured(*attribute.mutable_g(), m_aliases);
        }
        for (const auto& output : m_graph.output()) {
            const auto found = m_aliases.find(output.name());
            if (found == m_aliases.end()) continue;
            onnx::NodeProto& identity = *m_graph.add_node();
            identity.set_op_type("Identity");
            identity.set_name(output.name());
            identity.add_input(found->second);
            identity.add_output(output.name());
        }
        m_aliases.clear();
    }

    /// Resolves sequences whose length and positions are constant: readers get the tensors themselves.
    bool resolveSequences() {
        std::map<std::string, std::vector<std::string>> lists;
        std::set<int> resolved, makers;
        bool joined = false;
        std::size_t listed = 0;
        google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes = *m_graph.mutable_node();
        readConstants(nodes);
        for (int n = 0; n < nodes.size(); ++n) {
            onnx::NodeProto& node = nodes[n];
            if (!isStandardDomain(node.domain()) || node.output_size() != 1) continue;
            const std::string op = node.op_type(), out = node.output(0);
            if (op == "SequenceEmpty")
                lists[out] = {};
            else if (op == "SequenceConstruct")
                lists[out] = {node.input().begin(), node.input().end()};
            if (op == "SequenceEmpty" || op == "SequenceConstruct") {
                makers.insert(n);
                continue;
            }
            const auto list = node.input_size() > 0 ? lists.find(node.input(0)) : lists.end();
            if (list == lists.end()) continue;
            const std::vector<std::string>& items = list->second;
            const auto count = static_cast<std::int64_t>(items.size());
            const bool copies = op == "Identity" || op == "SequenceInsert" || op == "SequenceErase";
            if (copies && (listed += items.size()) > kMaxListed) continue;
            const int positionInput = op == "SequenceInsert" ? 2 : 1;
            std::optional<std::int64_t> position;
            if (node.input_size() > positionInput && !node.input(positionInput).empty()) {
                position = scalar(node.input(positionInput));
                if (!position) continue;
                if (*position < 0) *position += count;
                if (*position < 0 || *position > count) continue;
            }
            if (op == "Identity") {
                lists[out] = items;
            } else if (op == "SequenceInsert" && node.input_size() >= 2) {
                std::vector<std::string> longer = items;
                longer.insert(longer.begin() + position.value_or(count), node.input(1));
                lists[out] = std::move(longer);
            } else if (op == "SequenceErase" && position.value_or(count - 1) < count && count > 0) {
                std::vector<std::string> shorter = items;
                shorter.erase(shorter.begin() + position.value_or(count - 1));
                lists[out] = std::move(shorter);
            } else if (op == "SequenceAt" && position && *position < count) {
                alias(out, items[static_cast<std::size_t>(*position)]);
                resolved.insert(n);
                continue;
            } else if (op == "SequenceLength") {
                addScalar(out, onnx::TensorProto::INT64, count);
                resolved.insert(n);
                continue;
            } else if (op == "ConcatFromSequence" && count > 0) {
                becomeConcat(m_graph, n, items, m_opset, m_names);
                joined = true;
                continue;
            } else {
                continue;
            }
            makers.insert(n);
        }
        if (makers.empty()) return false;
        const bool changed = joined || !resolved.empty();
        removeNodes(m_graph, resolved);
        applyAliases();
        removeUnread(m_graph, sequencesOf(m_graph));  // those that are no longer read
        return changed;
    }

    onnx::ModelProto& m_model;
    onnx::GraphProto& m_graph;
    std::int64_t m_opset;
    std::map<std::string, std::int64_t> m_scalars;
    std::map<std::string, std::int64_t> m_decided;  ///< conditions that follow from shapes
    int m_rounds = 0;
    std::map<std::string, std::string> m_aliases;
    std::set<std::string> m_prefixes;
    std::set<std::string> m_names;  ///< of the tensors, without those of unrolled bodies
    std::size_t m_added = 0, m_addedBytes = 0;
};

bool hasControlFlow(const onnx::GraphProto& graph) {
    return std::any_of(graph.node().begin(), graph.node().end(), [](const onnx::NodeProto& node) {
        return node.op_type() == "Loop" || node.op_type() == "If" || node.op_type().starts_with("Sequence");
    });
}

}  // namespace

void unrollConstantControlFlow(onnx::ModelProto& model, std::vector<std::string>& notices) {
    if (!hasControlFlow(model.graph())) return;
    std::int64_t opset = 0;
    for (const auto& import : model.opset_import())
        if (isStandardDomain(import.domain())) opset = import.version();
    const std::size_t unrolled = Unroller(model, opset).run();
    if (unrolled > 0)
        notices.push_back(
            fmt::format("loops, branches and lists of tensors with constant conditions ({}) became "
                        "plain nodes",
                        unrolled));
}

}  // namespace quantloupe
