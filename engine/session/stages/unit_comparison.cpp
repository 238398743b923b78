// SPDX-License-Identifier: Apache-2.0
#include "session/stages/unit_comparison.h"

#include <algorithm>
#include <set>

#include "analysis/channel_layout.h"
#include "session/stages/evaluation_passes.h"

namespace quantloupe {
namespace {

/// Minimum memory of a pass, unless it has only one unit.
constexpr std::size_t kLeastPassBytes = std::size_t{32} << 20;

ProgramSpec withParts(ProgramSpec spec, QuantizedParts parts) {
    if (parts == QuantizedParts::Both) return spec;
    if (parts == QuantizedParts::Weights)
        spec.quantizers.clear();
    else
        spec.constants.clear();
    spec.codes.clear();
    spec.arithmetic = Arithmetic::Simulation;
    return spec;
}

void multiplyChannels(const TensorDesc& desc, const std::vector<float>& factors, float* values) {
    const ChannelLayout layout = channelLayout(desc);
    for (std::size_t o = 0; o < layout.outer; ++o)
        for (std::size_t c = 0; c < layout.channels; ++c)
            for (std::size_t i = 0; i < layout.inner; ++i) *values++ *= factors[c];
}

/// Operands of the unit that have no quantizers and may depend on the data, such as initial states and
/// indices.
std::vector<TensorId> otherOperands(const UnitComparison& comparison, const Unit& unit) {
    const Graph& graph = *comparison.plan.prepared->graph;
    const auto& known = comparison.options.shapes.constants;
    std::vector<TensorId> operands;
    for (const TensorId in : graph.node(unit.layer).inputs)
        if (in.valid() && graph.constantOf(in) == nullptr && !(known && known->contains(in)) &&
            std::ranges::find(unit.inputs, in) == unit.inputs.end())
            operands.push_back(in);
    return operands;
}

/// Runs one pass over the samples, with all compared tensors in memory at once.
void compareInOnePass(const UnitComparison& comparison, const RunControl& control) {
    const Plan& plan = comparison.plan;
    const SampleBatches& batches = comparison.batches;
    const std::vector<Unit>& units = plan.units.units;
    std::set<TensorId> observed, tested, sources;
    for (const std::size_t u : comparison.cumulative) tested.insert(units[u].output);
    observed = tested;
    for (const std::size_t u : comparison.local) {
        observed.insert(units[u].output);
        observed.insert(units[u].inputs.begin(), units[u].inputs.end());
        for (const TensorId in : otherOperands(comparison, units[u])) observed.insert(in);
    }
    if (comparison.floatOutputs != nullptr)
        observed.insert(comparison.floatEnds.begin(), comparison.floatEnds.end());
    const std::size_t chunks = batches.chunks();
    const auto graphInputs = batches.inputsOf(*plan.prepared->graph);
    std::vector<BoundProgram> programs;
    const auto addProgram = [&](ProgramSpec spec, const ResumeOptions& options) {
        spec.kernels = comparison.kernels;
        spec.observedCodes = comparison.readsCodes;
        programs.push_back(resumedProgram(std::move(spec), options, chunks, 0, chunks));
        return programs.size() - 1;
    };
    addProgram(floatProgram(plan.prepared->graph, graphInputs, {observed.begin(), observed.end()}),
               comparison.options);
    std::size_t quantizedAt = 0, sourceAt = 0;
    if (!tested.empty())
        quantizedAt = addProgram(
            withParts(plan.networkSpec(graphInputs, {tested.begin(), tested.end()}), comparison.parts),
            comparison.options);
    if (comparison.source != nullptr) {
        for (const auto* list : {&comparison.local, &comparison.cumulative})
            for (const std::size_t u : *list)
                if (comparison.source->units[u].tensor.valid())
                    sources.insert(comparison.source->units[u].tensor);
        const GraphPtr& source = plan.prepared->source;
        if (!sources.empty())
            sourceAt =
                addProgram(floatProgram(source, batches.inputsOf(*source), {sources.begin(), sources.end()}),
                           *comparison.sourceOptions);
    }
    const Program& floating = *programs[0].program;
    std::vector<std::shared_ptr<const Program>> alone;
    std::vector<std::map<TensorId, TensorDesc>> operands;
    for (const std::size_t u : comparison.local) {
        auto& unitInputs = operands.emplace_back();
        for (const TensorId in : units[u].inputs) unitInputs[in] = floating.desc(in);
        std::map<TensorId, ConstantPtr> constants;  // computed from shapes, which a unit does not know
        for (const TensorId in : otherOperands(comparison, units[u])) {
            if (ConstantPtr value = floating.constantValue(in))
                constants[in] = std::move(value);
            else
                unitInputs[in] = floating.desc(in);
        }
        ProgramSpec spec = withParts(plan.unitSpec(u, unitInputs), comparison.parts);
        spec.constants.insert(constants.begin(), constants.end());
        spec.kernels = comparison.kernels;
        spec.observedCodes = comparison.readsCodes;
        spec.knownDims = comparison.options.shapes.dims;
        spec.knownConstants = comparison.options.shapes.constants;
        alone.push_back(Program::compile(std::move(spec)));
    }

    std::optional<OutputRecorder> recorder;
    if (comparison.floatOutputs != nullptr)
        recorder.emplace(floating, comparison.floatEnds, batches, *comparison.floatOutputs);

    runChunks(
        programs, batches, 0, chunks, control,
        [&](std::size_t chunk, std::size_t worker, std::vector<Workspace>& workspaces) {
            if (recorder) recorder->record(chunk, workspaces[0]);
            std::vector<float> decoded, converted, gathered[2];
            const std::size_t present = batches.samplesIn(chunk);
            const auto compare = [&](std::size_t index, std::size_t u, const Workspace& workspace,
                                     const std::function<void(const ComparedTensor&)>& use) {
                const TensorId tensor = units[u].output;
                const SourceTensor* source =
                    comparison.source == nullptr ? nullptr : &comparison.source->units[u];
                if (source != nullptr && !source->tensor.valid()) return;
                const Workspace& referring = source == nullptr ? workspaces[0] : workspaces[sourceAt];
                const TensorId reference = source == nullptr ? tensor : source->tensor;
                const TensorDesc& desc = referring.program().desc(reference);
                TensorDesc other = workspace.program().desc(tensor);
                if (desc.type != DataType::Float32) return;
                const bool rescaled = source != nullptr && !source->factors.empty();
                const bool converts = (other.layout != desc.layout && desc.dims.size() >= 3) || rescaled;
                const auto expected = presentValues(desc, referring.floats(reference), present, gathered[0]);
                const std::size_t samples = desc.samples.perSample() ? present : 1;
                const float* values = nullptr;
                if (const FakeQuant* quantizer = workspace.program().codesOf(tensor)) {
                    const auto* codes = static_cast<const std::uint8_t*>(workspace.data(tensor));
                    if (!converts && desc.samples.runs <= 1)
                        return use({index, chunk, worker, expected.data(), nullptr, desc, expected.size(),
                                    samples, workspaces[0], codes, quantizer});
                    decoded.resize(other.count());
                    decode(*quantizer, codes, decoded.data(), decoded.size());
                    other.type = DataType::Float32;
                    values = decoded.data();
                } else {
                    values = workspace.floats(tensor);
                }
                if (converts) {
                    converted.resize(desc.count());
                    convertLayout(other, values, desc.layout, converted.data());
                    if (rescaled) multiplyChannels(desc, source->factors, converted.data());
                    values = converted.data();
                }
                // Both tensors have the layout of the reference now.
                const auto found = presentValues(desc, values, present, gathered[1]);
                use({index, chunk, worker, expected.data(), found.data(), desc, expected.size(), samples,
                     workspaces[0]});
            };
            for (std::size_t i = 0; i < comparison.cumulative.size(); ++i)
                compare(i, comparison.cumulative[i], workspaces[quantizedAt], comparison.compareCumulative);
            for (std::size_t i = 0; i < comparison.local.size(); ++i) {
                control.cancel.checkWithoutPause();
                Workspace own(alone[i]);
                for (const auto& [in, desc] : operands[i]) own.bind(in, workspaces[0].data(in));
                own.run(control.cancel);
                compare(i, comparison.local[i], own, comparison.compareLocal);
            }
        });
    if (recorder) recorder->finish(chunks);
}

/// Returns the memory of a pass for one unit and one chunk: its tensors in the float network and, for
/// cumulative metrics, in the quantized network.
std::size_t bytesOf(const UnitComparison& comparison, const Unit& unit, bool local) {
    const auto& known = comparison.options.shapes.dims;
    const auto bytes = [&](TensorId tensor) {
        if (!known) return std::size_t{0};
        const auto dims = known->find(tensor);
        return dims == known->end() ? 0
                                    : static_cast<std::size_t>(elementCount(dims->second)) * sizeof(float);
    };
    std::size_t all = bytes(unit.output) * (local ? 1 : 2);
    for (const TensorId in : unit.inputs) all += local ? bytes(in) : 0;
    return all;
}

}  // namespace

void compareUnits(const UnitComparison& comparison, const RunControl& control) {
    const auto workers = static_cast<std::size_t>(control.workers.count());
    const std::size_t most = std::max(comparison.options.store.budget() / workers / 2, kLeastPassBytes);
    // Each pass compares as many consecutive units as fit into memory.
    std::vector<UnitComparison> passes;
    std::size_t held = 0;
    for (std::size_t l = 0, c = 0; l < comparison.local.size() || c < comparison.cumulative.size();) {
        const bool local = l < comparison.local.size() && (c == comparison.cumulative.size() ||
                                                           comparison.local[l] <= comparison.cumulative[c]);
        const std::size_t unit = local ? comparison.local[l] : comparison.cumulative[c];
        const std::size_t bytes = bytesOf(comparison, comparison.plan.units.units[unit], local);
        if (passes.empty() || held + bytes > most) {
            UnitComparison pass = comparison;
            if (!passes.empty()) pass.floatOutputs = nullptr;
            pass.local.clear();
            pass.cumulative.clear();
            pass.compareLocal = [&, l](ComparedTensor tensor) {
                tensor.index += l;
                comparison.compareLocal(tensor);
            };
            pass.compareCumulative = [&, c](ComparedTensor tensor) {
                tensor.index += c;
                comparison.compareCumulative(tensor);
            };
            passes.push_back(std::move(pass));
            held = 0;
        }
        held += bytes;
        (local ? passes.back().local : passes.back().cumulative).push_back(unit);
        ++(local ? l : c);
    }
    for (std::size_t p = 0; p < passes.size(); ++p) {
        RunControl run = control;
        if (control.progress)
            run.progress = [&, p](std::size_t done, std::size_t total) {
                control.progress(p * total + done, passes.size() * total);
            };
        compareInOnePass(passes[p], run);
    }
}

}  // namespace quantloupe
