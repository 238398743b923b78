// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan whose decisions are known when the program is compiled: the condition of an If, the
// number of iterations of a Loop, the extent that a Scan iterates over. Each body is compiled to its own
// program. Where all inputs are known (session/stages/evaluated_part.h evaluates the part of a network whose
// shapes depend on the data in this way), the decisions may depend on them, too.
#include <cstring>

#include "base/error.h"
#include "model/subgraphs.h"
#include "runtime/operators/operators.h"
#include "runtime/program/program.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kMaxIterations = 100000;

/// The argument for one input of a subgraph: a known value or a description.
struct BodyInput {
    TensorDesc desc;
    ConstantPtr value = {};
};

BodyInput inputOf(const NodeContext& context, std::size_t i) {
    BodyInput input{context.input(i), i < context.constants.size() ? context.constants[i] : nullptr};
    input.desc.layout = Layout::Plain;
    return input;
}

BodyInput known(const ConstantPtr& value) { return {{value->type(), value->dims(), Layout::Plain}, value}; }

/// A value for input `i` of a subgraph: a scalar, or of one dimension where the subgraph declares that, as in
/// ONNX Runtime.
BodyInput scalar(const Graph& subgraph, std::size_t i, DataType type, std::int64_t value) {
    std::vector<std::byte> bytes(elementSize(type));
    std::memcpy(bytes.data(), &value, bytes.size());  // little endian, as everywhere
    Dims dims;
    if (i < subgraph.inputs().size())
        if (const auto& shape = subgraph.tensor(subgraph.inputs()[i]).shape; shape && shape->size() == 1)
            dims = {1};
    return known(Constant::fromBytes(type, std::move(dims), std::move(bytes)));
}

/// A compiled subgraph. Its outputs are in plain layout.
class Body {
  public:
    Body(GraphPtr owner, std::vector<BodyInput> inputs, std::int64_t exportOpset)
        : m_inputs(std::move(inputs)) {
        const Graph& graph = *owner;
        if (graph.inputs().size() != m_inputs.size())
            failInput("its subgraph '{}' has {} inputs, but gets {}", graph.facts().graphName,
                      graph.inputs().size(), m_inputs.size());
        ProgramSpec spec;
        spec.exportOpset = exportOpset;
        spec.observed.assign(graph.outputs().begin(), graph.outputs().end());
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            if (m_inputs[i].value)
                spec.constants[graph.inputs()[i]] = m_inputs[i].value;
            else
                spec.inputs[graph.inputs()[i]] = m_inputs[i].desc;
        }
        m_outputs = spec.observed;
        m_graphInputs.assign(graph.inputs().begin(), graph.inputs().end());
        spec.graph = std::move(owner);
        m_program = Program::compile(std::move(spec));
    }

    std::size_t outputs() const { return m_outputs.size(); }
    TensorDesc desc(std::size_t o) const {
        TensorDesc desc = m_program->desc(m_outputs[o]);
        desc.layout = Layout::Plain;
        return desc;
    }
    /// Returns null unless the value is known without running.
    ConstantPtr value(std::size_t o) const { return m_program->constantValue(m_outputs[o]); }
    BodyInput asInput(std::size_t o) const { return {desc(o), value(o)}; }
    const std::vector<BodyInput>& inputs() const { return m_inputs; }

    /// `inputs` has one pointer for each input of the subgraph; those of known values are not read.
    void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) const {
        Workspace workspace(m_program);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!m_inputs[i].value) workspace.bind(m_graphInputs[i], inputs[i]);
        workspace.run();
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (outputs[o] == nullptr) continue;
            const TensorDesc& from = m_program->desc(m_outputs[o]);
            if (from.count() > 0)
                convertLayout(from, workspace.data(m_outputs[o]), Layout::Plain, outputs[o]);
        }
    }

  private:
    std::vector<BodyInput> m_inputs;
    std::vector<TensorId> m_graphInputs, m_outputs;
    std::shared_ptr<const Program> m_program;
};

/// A subgraph of the node and the positions of its captured inputs among the node's inputs.
struct Subgraph {
    GraphPtr graph;
    std::vector<std::size_t> captured;
};

Subgraph subgraphOf(const NodeContext& context, const char* name) {
    const auto all = capturedNames(context.node.attributes);
    const std::size_t formal = context.node.inputs.size() - all.size();
    for (const auto& [key, value] : context.node.attributes) {
        const auto* opaque = std::get_if<OpaqueAttribute>(&value);
        if (key != name || opaque == nullptr || !opaque->graph) continue;
        Subgraph subgraph{opaque->graph, {}};
        for (const std::string& captured : opaque->captures)
            subgraph.captured.push_back(
                formal +
                static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), captured) - all.begin()));
        return subgraph;
    }
    failInput("{} has no subgraph '{}'", context.node.op, name);
}

Body makeBody(const Subgraph& subgraph, std::vector<BodyInput> own, const NodeContext& context) {
    for (const std::size_t i : subgraph.captured) own.push_back(inputOf(context, i));
    return Body(subgraph.graph, std::move(own), context.exportOpset);
}

std::vector<TensorDesc> descsOf(const Body& body) {
    std::vector<TensorDesc> descs;
    for (std::size_t o = 0; o < body.outputs(); ++o) descs.push_back(body.desc(o));
    return descs;
}

CompiledNode compileIf(const NodeContext& context) {
    const Constant& condition = context.needConstant(0, "the condition of an If");
    const Subgraph branch = subgraphOf(context, condition.scalar() != 0 ? "then_branch" : "else_branch");
    auto body = std::make_shared<const Body>(makeBody(branch, {}, context));
    if (body->outputs() < context.node.outputs.size())
        failInput("the branch of an If has {} outputs", body->outputs());
    return {descsOf(*body), makeKernel([body, captured = branch.captured](const KernelArguments& a) {
                std::vector<const void*> inputs;
                for (const std::size_t i : captured) inputs.push_back(a.inputs[i]);
                body->run(inputs, {a.outputs.begin(), a.outputs.end()});
            })};
}

/// The consecutive iterations of a Loop, each compiled for the results of the one before.
struct UnrolledLoop {
    std::vector<std::shared_ptr<const Body>> bodies;
    std::vector<BodyInput> start;       ///< of the carried values
    std::vector<std::size_t> captured;  ///< inputs of the node
    std::size_t carried = 0;

    /// The description of a carried value after all iterations, or of the scan outputs of one iteration.
    BodyInput finalValue(std::size_t k) const {
        return bodies.empty() ? start[k] : bodies.back()->asInput(k + 1);
    }
};

void runLoop(const UnrolledLoop& loop, const KernelArguments& a) {
    using Bytes = std::vector<std::byte>;
    std::vector<Bytes> state(loop.carried), next(loop.carried);
    std::vector<const void*> now(loop.carried);
    for (std::size_t k = 0; k < loop.carried; ++k)
        now[k] = loop.start[k].value ? loop.start[k].value->bytes().data() : a.inputs[k + 2];
    std::vector<std::size_t> written(a.outputs.size(), 0);
    for (const auto& body : loop.bodies) {
        std::vector<const void*> inputs{nullptr, nullptr};
        inputs.insert(inputs.end(), now.begin(), now.end());
        for (const std::size_t i : loop.captured) inputs.push_back(a.inputs[i]);
        std::vector<void*> outputs{nullptr};
        for (std::size_t k = 0; k < loop.carried; ++k) {
            next[k].resize(body->desc(k + 1).bytes());
            outputs.push_back(next[k].data());
        }
        for (std::size_t s = loop.carried; s + 1 < body->outputs(); ++s) {
            void* to = s < a.outputs.size() ? a.outputs[s] : nullptr;
            outputs.push_back(to == nullptr ? nullptr : static_cast<std::byte*>(to) + written[s]);
            if (s < written.size()) written[s] += body->desc(s + 1).bytes();
        }
        body->run(inputs, outputs);
        std::swap(state, next);
        for (std::size_t k = 0; k < loop.carried; ++k) now[k] = state[k].data();
    }
    for (std::size_t k = 0; k < std::min(loop.carried, a.outputs.size()); ++k) {
        const std::size_t bytes = loop.finalValue(k).desc.bytes();
        if (a.outputs[k] != nullptr && bytes > 0) std::memcpy(a.outputs[k], now[k], bytes);
    }
}

CompiledNode compileLoop(const NodeContext& context) {
    const Subgraph subgraph = subgraphOf(context, "body");
    const std::size_t formal = formalInputs(context.node);
    auto loop = std::make_shared<UnrolledLoop>();
    loop->carried = formal - 2;
    loop->captured = subgraph.captured;
    for (std::size_t k = 0; k < loop->carried; ++k) loop->start.push_back(inputOf(context, k + 2));
    const auto most = context.has(0)
                          ? integerOf(context.needConstant(0, "the number of iterations of a Loop"))
                          : kMaxIterations;
    bool condition = !context.has(1) || context.needConstant(1, "the condition of a Loop").scalar() != 0;
    std::vector<BodyInput> values = loop->start;
    for (std::int64_t i = 0; condition && i < most; ++i) {
        if (i >= kMaxIterations)
            fail(ErrorKind::Unsupported, "a Loop of more than {} iterations is not supported",
                 kMaxIterations);
        std::vector<BodyInput> inputs{scalar(*subgraph.graph, 0, DataType::Int64, i),
                                      scalar(*subgraph.graph, 1, DataType::Bool, 1)};
        inputs.insert(inputs.end(), values.begin(), values.end());
        auto body = std::make_shared<const Body>(makeBody(subgraph, std::move(inputs), context));
        if (body->outputs() < loop->carried + 1)
            failInput("the body of a Loop has {} outputs", body->outputs());
        const ConstantPtr again = body->value(0);
        if (!again) fail(ErrorKind::Unsupported, "the condition of a Loop must not depend on the data");
        condition = again->scalar() != 0;
        for (std::size_t k = 0; k < loop->carried; ++k) values[k] = body->asInput(k + 1);
        loop->bodies.push_back(std::move(body));
    }
    CompiledNode result;
    for (std::size_t k = 0; k < loop->carried; ++k) result.outputs.push_back(loop->finalValue(k).desc);
    for (std::size_t s = loop->carried; s < context.node.outputs.size(); ++s) {
        if (loop->bodies.empty())
            fail(ErrorKind::Unsupported, "the outputs of a Loop without iterations have no known shape");
        if (s + 1 >= loop->bodies[0]->outputs())
            failInput("the body of a Loop has {} outputs", loop->bodies[0]->outputs());
        TensorDesc desc = loop->bodies[0]->desc(s + 1);
        for (const auto& body : loop->bodies)
            if (body->desc(s + 1).dims != desc.dims || body->desc(s + 1).type != desc.type)
                failInput("a Loop concatenates values of {} and {}", toString(desc.dims),
                          toString(body->desc(s + 1).dims));
        desc.dims.insert(desc.dims.begin(), static_cast<std::int64_t>(loop->bodies.size()));
        result.outputs.push_back(desc);
    }
    result.kernel = makeKernel([loop](const KernelArguments& a) { runLoop(*loop, a); });
    return result;
}

/// Only along the first dimension and forward, as exporters write it.
CompiledNode compileScan(const NodeContext& context) {
    if (context.opset() < 9)
        fail(ErrorKind::Unsupported, "Scan of opset 8 is not supported; export for opset 9 or later");
    const Subgraph subgraph = subgraphOf(context, "body");
    for (const char* name :
         {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"})
        for (const std::int64_t entry : context.node.attributes.integers(name))
            if (entry != 0) fail(ErrorKind::Unsupported, "Scan with {} other than 0 is not supported", name);
    const std::size_t formal = formalInputs(context.node);
    const auto scanned = static_cast<std::size_t>(context.node.attributes.integer("num_scan_inputs", 0));
    if (scanned == 0 || scanned > formal) failInput("Scan has {} scan inputs of {} inputs", scanned, formal);
    const std::size_t states = formal - scanned;
    std::vector<BodyInput> inputs;
    std::int64_t steps = -1;
    for (std::size_t i = 0; i < formal; ++i) {
        BodyInput input = inputOf(context, i);
        input.value = nullptr;  // it changes with every step
        if (i >= states) {
            if (input.desc.dims.empty()) failInput("Scan cannot iterate over a scalar");
            if (steps >= 0 && input.desc.dims[0] != steps)
                failInput("Scan's inputs have {} and {} entries", steps, input.desc.dims[0]);
            steps = input.desc.dims[0];
            input.desc.dims.erase(input.desc.dims.begin());
        }
        inputs.push_back(std::move(input));
    }
    auto body = std::make_shared<const Body>(makeBody(subgraph, inputs, context));
    if (body->outputs() < states)
        failInput("Scan's body has {} outputs for {} states", body->outputs(), states);
    CompiledNode result;
    for (std::size_t o = 0; o < body->outputs(); ++o) {
        TensorDesc desc = body->desc(o);
        if (o < states && desc.dims != inputs[o].desc.dims)
            fail(ErrorKind::Unsupported,
                 "a Scan whose state changes its shape from {} to {} is not supported",
                 toString(inputs[o].desc.dims), toString(desc.dims));
        if (o < states && desc.type != inputs[o].desc.type)
            failInput("Scan's state {} changes its type from {} to {}", o, dataTypeName(inputs[o].desc.type),
                      dataTypeName(desc.type));
        if (o >= states) desc.dims.insert(desc.dims.begin(), steps);
        result.outputs.push_back(std::move(desc));
    }
    result.kernel = makeKernel([=, captured = subgraph.captured](const KernelArguments& a) {
        std::vector<std::vector<std::byte>> state(states), next(states);
        for (std::size_t k = 0; k < states; ++k) {
            state[k].resize(body->inputs()[k].desc.bytes());
            next[k].resize(state[k].size());
            if (!state[k].empty()) std::memcpy(state[k].data(), a.inputs[k], state[k].size());
        }
        for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
            std::vector<const void*> in;
            for (std::size_t i = 0; i < states + scanned; ++i)
                in.push_back(i < states ? static_cast<const void*>(state[i].data())
                                        : static_cast<const std::byte*>(a.inputs[i]) +
                                              step * body->inputs()[i].desc.bytes());
            for (const std::size_t i : captured) in.push_back(a.inputs[i]);
            std::vector<void*> out;
            for (std::size_t o = 0; o < body->outputs(); ++o) {
                void* whole = o < a.outputs.size() ? a.outputs[o] : nullptr;
                out.push_back(o < states ? static_cast<void*>(next[o].data())
                              : whole == nullptr
                                  ? nullptr
                                  : static_cast<std::byte*>(whole) + step * body->desc(o).bytes());
            }
            body->run(in, out);
            std::swap(state, next);
        }
        for (std::size_t k = 0; k < std::min(states, a.outputs.size()); ++k)
            if (a.outputs[k] != nullptr && !state[k].empty())
                std::memcpy(a.outputs[k], state[k].data(), state[k].size());
    });
    return result;
}

}  // namespace

void addControlFlow(OperatorTable& table) {
    table["If"] = {compileIf};
    table["Loop"] = {compileLoop};
    table["Scan"] = {compileScan};
}

}  // namespace quantloupe
