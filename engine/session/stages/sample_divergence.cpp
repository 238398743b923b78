// SPDX-License-Identifier: Apache-2.0
#include "session/stages/sample_divergence.h"

#include "analysis/class_output.h"
#include "base/error.h"
#include "base/text.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

/// Returns whether `name` ends with `end`, beginning at a part of its path.
bool endsWithPart(const std::string& name, const std::string& end) {
    if (end.empty() || !name.ends_with(end)) return false;
    return name.size() == end.size() || end.front() == '/' || name[name.size() - end.size() - 1] == '/';
}

/// The output with the scores of the classes.
std::optional<TensorId> scoresOf(const Program& program, const Graph& graph, const SessionSamples& samples) {
    const Dataset& data = *samples.evaluation();
    if (!mayHaveClasses(data)) return std::nullopt;
    std::vector<OutputVector> vectors;
    std::vector<TensorId> tensors;
    for (const TensorId output : graph.outputs()) {
        const TensorDesc& desc = program.desc(output);
        if (desc.type != DataType::Float32 || graph.tensor(output).graphInput) continue;
        vectors.push_back({graph.tensor(output).name, scoreCount(graph, output, desc.dims, 1)});
        tensors.push_back(output);
    }
    const auto found = classOutput(vectors, chosenClassOutput(data), samples.binaryLabels());
    return found ? std::optional(tensors[*found]) : std::nullopt;
}

std::optional<std::int32_t> classOf(const Workspace& workspace, const Graph& graph, TensorId output) {
    const auto width = static_cast<std::size_t>(workspace.program().desc(output).dims.back());
    const std::int32_t predicted =
        judge(workspace.floats(output), width, std::nullopt, binaryThreshold(graph, output)).predicted;
    return predicted == kNoClass ? std::nullopt : std::optional(predicted);
}

TensorDifference differenceOf(const Workspace& floating, const Workspace& quantized, TensorId tensor) {
    const TensorDesc& desc = floating.program().desc(tensor);
    const TensorDesc& other = quantized.program().desc(tensor);
    const float* values = quantized.floats(tensor);
    std::vector<float> converted;
    if (other.layout != desc.layout && desc.dims.size() >= 3) {
        converted.resize(desc.count());
        convertLayout(other, values, desc.layout, converted.data());
        values = converted.data();
    }
    DifferenceSums sums;
    sums.add(floating.floats(tensor), values, desc.count());
    return sums.result();
}

}  // namespace

std::size_t findSample(Session& session, const std::string& text) {
    const SessionSamples& samples = partsOf(session).samples;
    samples.require();
    const Dataset& data = *samples.evaluation();
    const std::size_t count = data.size();
    std::vector<std::size_t> ending;
    for (std::size_t s = 0; s < count; ++s) {
        const std::string name = data.sampleName(s);
        if (name == text) return s;
        if (endsWithPart(name, text)) ending.push_back(s);
    }
    if (ending.size() == 1) return ending[0];
    if (ending.size() > 1)
        failInput("{} samples end in '{}', one of them '{}'; give the whole name", ending.size(), text,
                  data.sampleName(ending[0]));
    const auto index = parsed<std::size_t>(text);
    if (!index)
        failInput("there is no sample '{}'; the {} samples have names like '{}'", text, count,
                  data.sampleName(0));
    for (std::size_t s = 0; s < count; ++s)
        if (samples.order()[s] == *index) return s;
    failInput("there is no sample {}: the {} samples are numbered from 0 to {}", *index, count, count - 1);
}

SampleDivergence sampleDivergence(Session& session, const QuantizationConfig& config, std::size_t sample,
                                  const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    SessionSamples& samples = parts.samples;
    samples.requireEvaluable();
    if (samples.together() > 1)
        failInput(
            "the network mixes the {} samples of a batch, so the layers cannot be compared for one of them",
            samples.together());
    const auto plan = parts.plan(config, parts.runner.control(cancel));
    const Prepared& prepared = *plan->prepared;
    const Graph& graph = *prepared.graph;
    const EvaluationPtr states = session.experiment(config, Depth::Structure, cancel);

    // With a batch size of 1, every tensor belongs to this sample, even if its first dimension is not the
    // batch.
    const SampleBatches single(subset(samples.evaluation(), {sample}), *parts.model.graph, 1);
    std::vector<TensorId> observed = samples.part().endsOf(graph);
    for (const Unit& unit : plan->units.units) observed.push_back(unit.output);
    const auto inputs = single.inputsOf(graph);
    const auto values = single.load(0);
    const auto run = [&](const ProgramSpec& spec) {
        Workspace workspace(Program::compile(spec));
        for (std::size_t i = 0; i < values.size(); ++i) workspace.bind(graph.inputs()[i], values[i].data());
        workspace.run(cancel);
        return workspace;
    };
    const Workspace floating = run(floatProgram(prepared.graph, inputs, observed));
    const Workspace quantized = run(plan->networkSpec(inputs, observed));

    const Dataset& data = *samples.evaluation();
    SampleDivergence result;
    result.sample = {samples.order()[sample], data.sampleName(sample)};
    if (const auto label = data.label(sample)) result.label = *label;
    if (samples.part().frontier.empty())
        if (const auto scores = scoresOf(floating.program(), graph, samples)) {
            result.floating = classOf(floating, graph, *scores);
            result.quantized = classOf(quantized, graph, *scores);
        }
    std::vector<double> errors;
    for (const Unit& unit : plan->units.units) {
        if (floating.program().desc(unit.output).type != DataType::Float32) continue;
        const LayerResult& layer = states->layers[prepared.sourceOf[unit.layer.index()].index()];
        result.layers.push_back(
            {layer.node, layer.name, layer.op, layer.state, differenceOf(floating, quantized, unit.output)});
        errors.push_back(result.layers.back().difference.qs);
    }
    result.first = findFirstDivergence(errors);
    return result;
}

std::string describe(const SampleDivergence& divergence) {
    if (!divergence.first) return "no layer diverges";
    const FirstDivergence& first = *divergence.first;
    const std::string& name = divergence.layers[first.layer].name;
    switch (first.kind) {
        case DivergenceKind::Jump:
            if (first.largestBefore < 5e-5)
                return fmt::format("the error starts at '{}' with {:.4f}", name, first.error);
            return fmt::format("the error jumps at '{}': {:.4f}, at most {:.4f} before it", name, first.error,
                               first.largestBefore);
        case DivergenceKind::Drift:
            return fmt::format("the error grows without a jump; at '{}' it reaches {:.4f}", name,
                               first.error);
        case DivergenceKind::NotFinite:
            return fmt::format("'{}' is the first layer with NaN or infinite values", name);
    }
    return {};
}

}  // namespace quantloupe
