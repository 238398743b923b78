// SPDX-License-Identifier: Apache-2.0
// If and Loop whose decisions are known when the program is compiled: the condition of an If, the number of
// iterations of a Loop. Where all inputs are known (session/stages/evaluated_part.h evaluates the part of a
// network whose shapes depend on the data in this way), the decisions may depend on them, too.
#include <cstring>

#include "base/error.h"
#include "model/subgraphs.h"
#include "runtime/operators/subgraph_body.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kMaxIterations = 100000;

std::vector<TensorDesc> descsOf(const Body& body) {
    std::vector<TensorDesc> descs;
    for (std::size_t o = 0; o < body.outputs(); ++o) descs.push_back(body.desc(o));
    return descs;
}

CompiledNode compileIf(const NodeContext& context) {
    const Constant* condition = context.constant(0);
    if (condition == nullptr)
        fail(ErrorKind::Unsupported,
             "which branch runs depends on '{}', which is computed from the data; if an input decides, fix "
             "its value (File → Set Inputs, or quantloupe-cli set-inputs)",
             context.graph.tensor(context.node.input(0)).name);
    const Subgraph branch = subgraphOf(context, condition->scalar() != 0 ? "then_branch" : "else_branch");
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
    for (std::size_t k = 0; k < loop->carried; ++k) loop->start.push_back(bodyInputOf(context, k + 2));
    const auto most = context.has(0)
                          ? integerOf(context.needConstant(0, "the number of iterations of a Loop"))
                          : kMaxIterations;
    bool condition = !context.has(1) || context.needConstant(1, "the condition of a Loop").scalar() != 0;
    std::vector<BodyInput> values = loop->start;
    for (std::int64_t i = 0; condition && i < most; ++i) {
        if (i >= kMaxIterations)
            fail(ErrorKind::Unsupported, "a Loop of more than {} iterations is not supported",
                 kMaxIterations);
        std::vector<BodyInput> inputs{scalarBodyInput(*subgraph.graph, 0, DataType::Int64, i),
                                      scalarBodyInput(*subgraph.graph, 1, DataType::Bool, 1)};
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
                fail(ErrorKind::Unsupported, "a Loop that joins values of {} and {} is not supported",
                     toString(desc.dims), toString(body->desc(s + 1).dims));
        desc.dims.insert(desc.dims.begin(), static_cast<std::int64_t>(loop->bodies.size()));
        result.outputs.push_back(desc);
    }
    result.kernel = makeKernel([loop](const KernelArguments& a) { runLoop(*loop, a); });
    return result;
}

}  // namespace

void addControlFlow(OperatorTable& table) {
    table["If"] = {compileIf};
    table["Loop"] = {compileLoop};
}

}  // namespace quantloupe
