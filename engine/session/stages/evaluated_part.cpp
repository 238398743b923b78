// SPDX-License-Identifier: Apache-2.0
#include "session/stages/evaluated_part.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/short_text.h"
#include "model/operator_traits.h"
#include "runtime/program/sample_batches.h"
#include "transform/simplify.h"

namespace quantloupe {
namespace {

/// Concatenates the values of the samples along the first dimension if its extent is 1, otherwise along a new
/// first dimension.
ConstantPtr joined(const std::vector<ConstantPtr>& values, const std::string& name) {
    if (values.size() == 1) return values[0];
    const Dims& first = values[0]->dims();
    Dims dims = first;
    std::vector<std::byte> bytes;
    if (first.empty())
        dims = {0};
    else
        dims[0] = 0;
    for (const ConstantPtr& value : values) {
        const Dims& own = value->dims();
        if (own.size() != first.size() ||
            (!own.empty() && !std::equal(own.begin() + 1, own.end(), first.begin() + 1)))
            fail(ErrorKind::Unsupported,
                 "the output '{}' is {} for one sample and {} for another; run one sample at a time", name,
                 toString(first), toString(own));
        dims[0] += own.empty() ? 1 : own[0];
        bytes.insert(bytes.end(), value->bytes().begin(), value->bytes().end());
    }
    return Constant::fromBytes(values[0]->type(), std::move(dims), std::move(bytes));
}

/// Returns the name of the tensor, followed by those that the tensor may get if operators before it are
/// removed, or operators between it and a graph output.
std::vector<std::string> frontierNames(const Graph& source, TensorId tensor) {
    const auto isRemoved = [&](NodeId node) {
        return returnsItsInput(source, source.node(node), [&](TensorId id) { return source.constantOf(id); });
    };
    std::vector<std::string> names{source.tensor(tensor).name};
    TensorId before = tensor;
    for (NodeId node = source.tensor(before).producer; node.valid() && isRemoved(node);
         node = source.tensor(before).producer) {
        before = source.node(node).input(0);
        names.push_back(source.tensor(before).name);
    }
    std::vector<TensorId> after{tensor};
    for (std::size_t i = 0; i < after.size(); ++i)
        for (const NodeId reader : source.tensor(after[i]).consumers)
            if (isRemoved(reader) && source.node(reader).input(0) == after[i]) {
                after.push_back(source.node(reader).output());
                names.push_back(source.tensor(after.back()).name);
            }
    return names;
}

}  // namespace

EvaluatedPart evaluatedPart(const Graph& source, const Program& program, bool integersJudged) {
    EvaluatedPart part;
    part.unavailable = program.unavailable();
    const auto comparable = [&](TensorId tensor) {
        const TensorDesc& desc = program.desc(tensor);
        return desc.type == DataType::Float32 && desc.samples.perSample() && desc.count() > 0;
    };
    if (part.whole() && (integersJudged || std::ranges::any_of(source.outputs(), comparable))) return part;
    // Integers, for example of an ArgMax, have no error; the tensors that they are computed from have.
    std::vector<TensorId> open(source.outputs().begin(), source.outputs().end());
    for (const auto& [node, reason] : part.unavailable)
        open.insert(open.end(), source.node(node).inputs.begin(), source.node(node).inputs.end());
    std::set<TensorId> ends, seen;
    while (!open.empty()) {
        const TensorId tensor = open.back();
        open.pop_back();
        if (!tensor.valid() || !seen.insert(tensor).second) continue;
        const NodeId producer = source.tensor(tensor).producer;
        if (!producer.valid() || part.unavailable.contains(producer) || !program.reads(tensor)) continue;
        if (readsOnlyShape(source.node(producer))) continue;
        if (comparable(tensor))
            ends.insert(tensor);
        else if (program.desc(tensor).type != DataType::Float32)
            open.insert(open.end(), source.node(producer).inputs.begin(), source.node(producer).inputs.end());
    }
    for (const TensorId tensor : ends) part.frontier.push_back(frontierNames(source, tensor));
    return part;
}

std::vector<TensorId> EvaluatedPart::endsOf(const Graph& graph) const {
    if (frontier.empty()) return {graph.outputs().begin(), graph.outputs().end()};
    std::vector<TensorId> ends;
    for (const std::vector<std::string>& names : frontier) {
        const auto present =
            std::ranges::find_if(names, [&](const auto& name) { return graph.findTensor(name).has_value(); });
        if (present == names.end())
            fail(ErrorKind::Unsupported,
                 "the network is evaluated up to the tensor '{}', which the transforms remove; turn them off",
                 names.front());
        ends.push_back(*graph.findTensor(*present));
    }
    return ends;
}

std::string EvaluatedPart::cause(const Graph& source) const {
    const auto& [node, reason] = *unavailable.begin();
    return fmt::format("'{}' ({}): {}", source.node(node).name, source.node(node).op, reason);
}

void EvaluatedPart::requireBatchOfOne(const Graph& source, std::size_t batch) const {
    if (batch != 1)
        fail(ErrorKind::Unsupported,
             "the outputs cannot be computed for batches: {}. The batch size of the model is fixed at {}; "
             "export it with a dynamic batch size",
             cause(source), batch);
}

std::string EvaluatedPart::notice(const Graph& source) const {
    if (whole() && frontier.empty()) return {};
    if (whole())
        return fmt::format(
            "the outputs are not float32: SQNR is computed on the {} that they are computed from",
            frontier.size() == 1 ? std::string("tensor") : counted(frontier.size(), "tensor"));
    if (frontier.empty())
        fail(ErrorKind::Unsupported,
             "the network cannot be evaluated: no activation comes before the node {}", cause(source));
    return fmt::format(
        "{} of {} nodes are not evaluated: {}. SQNR is computed on the {} before them; other "
        "accuracies are not available",
        unavailable.size(), source.nodeCount(), cause(source), counted(frontier.size(), "tensor"));
}

void runBySample(const ProgramSpec& spec, const SampleBatches& batches, std::size_t begin, std::size_t end,
                 const CancelToken& cancel,
                 const std::function<void(std::size_t sample, const std::vector<ConstantPtr>&)>& use) {
    const Graph& graph = *spec.graph;
    // The program of the evaluated part observes the tensors that the rest of the network or an output needs.
    ProgramSpec front = spec;
    front.partial = true;
    front.observed.assign(graph.outputs().begin(), graph.outputs().end());
    const auto probe = Program::compile(front);
    std::set<TensorId> read;
    for (const auto& [node, reason] : probe->unavailable())
        for (const TensorId in : graph.node(node).inputs)
            if (in.valid() && !graph.tensor(in).constant &&
                !probe->unavailable().contains(graph.tensor(in).producer))
                read.insert(in);
    for (const TensorId output : graph.outputs())
        if (!probe->unavailable().contains(graph.tensor(output).producer)) read.insert(output);
    front.observed.assign(read.begin(), read.end());
    const auto program = Program::compile(front);

    Workspace workspace(program);
    for (std::size_t sample = begin; sample < end; ++sample) {
        cancel.check();
        const auto inputs = batches.load(sample);
        for (std::size_t i = 0; i < inputs.size(); ++i) workspace.bind(graph.inputs()[i], inputs[i].data());
        workspace.run(cancel);
        const auto valueOf = [&](TensorId tensor) {
            if (ConstantPtr constant = program->constantValue(tensor)) return constant;
            const TensorDesc& desc = program->desc(tensor);
            std::vector<std::byte> bytes(desc.bytes());
            if (!bytes.empty()) convertLayout(desc, workspace.data(tensor), Layout::Plain, bytes.data());
            return Constant::fromBytes(desc.type, desc.dims, std::move(bytes));
        };
        std::vector<ConstantPtr> values;
        if (probe->unavailable().empty()) {
            for (const TensorId output : graph.outputs()) values.push_back(valueOf(output));
            use(sample, values);
            continue;
        }
        ProgramSpec rest = spec;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const TensorDesc& desc = spec.inputs.at(graph.inputs()[i]);
            rest.constants[graph.inputs()[i]] =
                Constant::fromBytes(desc.type, desc.dims, {inputs[i].begin(), inputs[i].end()});
        }
        rest.inputs.clear();
        for (const TensorId tensor : read) rest.constants[tensor] = valueOf(tensor);
        rest.observed.assign(graph.outputs().begin(), graph.outputs().end());
        const auto known = Program::compile(std::move(rest));
        for (const TensorId output : graph.outputs()) values.push_back(known->constantValue(output));
        use(sample, values);
    }
}

std::vector<ConstantPtr> outputsBySample(const ProgramSpec& spec, const SampleBatches& batches,
                                         const std::vector<std::size_t>& order, const CancelToken& cancel) {
    const Graph& graph = *spec.graph;
    std::vector<std::vector<ConstantPtr>> values(graph.outputs().size(),
                                                 std::vector<ConstantPtr>(batches.samples()));
    runBySample(spec, batches, 0, batches.samples(), cancel,
                [&](std::size_t sample, const std::vector<ConstantPtr>& outputs) {
                    for (std::size_t o = 0; o < values.size(); ++o) values[o][order[sample]] = outputs[o];
                });
    std::vector<ConstantPtr> arrays;
    for (std::size_t o = 0; o < values.size(); ++o)
        arrays.push_back(joined(values[o], graph.tensor(graph.outputs()[o]).name));
    return arrays;
}

}  // namespace quantloupe
