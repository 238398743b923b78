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

void multiplyChannels(const TensorDesc& desc, const SourceTensor& source, float* values) {
    const std::size_t axis = source.lastAxis ? desc.dims.size() - 1 : 1;
    const auto inner = static_cast<std::size_t>(desc.strides()[axis]);
    const std::size_t channels = source.factors.size();
    for (std::size_t i = 0; i < desc.count(); i += inner)
        for (std::size_t k = 0; k < inner; ++k) *values++ *= source.factors[i / inner % channels];
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

/// One pass over the samples, with all compared tensors in memory at once.
class ComparisonPass {
  public:
    explicit ComparisonPass(const UnitComparison& comparison)
        : m_comparison(comparison), m_plan(comparison.plan), m_units(comparison.plan.units.units) {
        addFloatNetwork();
        addQuantizedNetwork();
        if (comparison.source != nullptr) addSourceNetwork();
        for (const std::size_t u : comparison.local) addUnit(u);
    }

    void run(const RunControl& control) {
        const SampleBatches& batches = m_comparison.batches;
        std::optional<OutputRecorder> recorder;
        if (m_comparison.floatOutputs != nullptr)
            recorder.emplace(floating(), m_comparison.floatEnds, batches, *m_comparison.floatOutputs);
        runChunks(m_programs, batches, 0, batches.chunks(), control,
                  [&](std::size_t chunk, std::size_t worker, std::vector<Workspace>& workspaces) {
                      if (recorder) recorder->record(chunk, workspaces[0]);
                      compareChunk({chunk, worker, batches.samplesIn(chunk), workspaces, {}, {}, {}},
                                   control.cancel);
                  });
        if (recorder) recorder->finish(batches.chunks());
    }

  private:
    struct Chunk {
        std::size_t index, worker, samples;
        std::vector<Workspace>& workspaces;
        std::vector<float> decoded, converted, gathered[2];  ///< memory for converted values
    };
    using Use = std::function<void(const ComparedTensor&)>;

    const Program& floating() const { return *m_programs[0].program; }

    std::size_t addProgram(ProgramSpec spec, const ResumeOptions& options) {
        const std::size_t chunks = m_comparison.batches.chunks();
        spec.kernels = m_comparison.kernels;
        spec.observedCodes = m_comparison.readsCodes;
        m_programs.push_back(resumedProgram(std::move(spec), options, chunks, 0, chunks));
        return m_programs.size() - 1;
    }

    void addFloatNetwork() {
        std::set<TensorId> observed;
        for (const std::size_t u : m_comparison.cumulative) observed.insert(m_units[u].output);
        for (const std::size_t u : m_comparison.local) {
            observed.insert(m_units[u].output);
            observed.insert(m_units[u].inputs.begin(), m_units[u].inputs.end());
            for (const TensorId in : otherOperands(m_comparison, m_units[u])) observed.insert(in);
        }
        if (m_comparison.floatOutputs != nullptr)
            observed.insert(m_comparison.floatEnds.begin(), m_comparison.floatEnds.end());
        const GraphPtr& graph = m_plan.prepared->graph;
        addProgram(
            floatProgram(graph, m_comparison.batches.inputsOf(*graph), {observed.begin(), observed.end()}),
            m_comparison.options);
    }

    void addQuantizedNetwork() {
        std::set<TensorId> tested;
        for (const std::size_t u : m_comparison.cumulative) tested.insert(m_units[u].output);
        if (tested.empty()) return;
        const auto inputs = m_comparison.batches.inputsOf(*m_plan.prepared->graph);
        m_quantizedAt = addProgram(
            withParts(m_plan.networkSpec(inputs, {tested.begin(), tested.end()}), m_comparison.parts),
            m_comparison.options);
    }

    void addSourceNetwork() {
        std::set<TensorId> sources;
        for (const auto* list : {&m_comparison.local, &m_comparison.cumulative})
            for (const std::size_t u : *list)
                if (m_comparison.source->units[u].tensor.valid())
                    sources.insert(m_comparison.source->units[u].tensor);
        if (sources.empty()) return;
        const GraphPtr& source = m_plan.prepared->source;
        m_sourceAt = addProgram(
            floatProgram(source, m_comparison.batches.inputsOf(*source), {sources.begin(), sources.end()}),
            *m_comparison.sourceOptions);
    }

    /// Compiles the unit on its own, with its inputs from the float network.
    void addUnit(std::size_t u) {
        auto& operands = m_operands.emplace_back();
        for (const TensorId in : m_units[u].inputs) operands[in] = floating().desc(in);
        std::map<TensorId, ConstantPtr> constants;  // computed from shapes, which a unit does not know
        for (const TensorId in : otherOperands(m_comparison, m_units[u])) {
            if (ConstantPtr value = floating().constantValue(in))
                constants[in] = std::move(value);
            else
                operands[in] = floating().desc(in);
        }
        ProgramSpec spec = withParts(m_plan.unitSpec(u, operands), m_comparison.parts);
        spec.constants.insert(constants.begin(), constants.end());
        spec.kernels = m_comparison.kernels;
        spec.observedCodes = m_comparison.readsCodes;
        spec.knownDims = m_comparison.options.shapes.dims;
        spec.knownConstants = m_comparison.options.shapes.constants;
        m_alone.push_back(Program::compile(std::move(spec)));
    }

    void compareChunk(Chunk chunk, const CancelToken& cancel) const {
        for (std::size_t i = 0; i < m_comparison.cumulative.size(); ++i)
            compare(chunk, i, m_comparison.cumulative[i], chunk.workspaces[m_quantizedAt],
                    m_comparison.compareCumulative);
        for (std::size_t i = 0; i < m_comparison.local.size(); ++i) {
            cancel.checkWithoutPause();
            Workspace own(m_alone[i]);
            for (const auto& [in, desc] : m_operands[i]) own.bind(in, chunk.workspaces[0].data(in));
            own.run(cancel);
            compare(chunk, i, m_comparison.local[i], own, m_comparison.compareLocal);
        }
    }

    /// Calls `use` with the unit's output in `workspace` and the tensor that it is compared with.
    void compare(Chunk& chunk, std::size_t index, std::size_t u, const Workspace& workspace,
                 const Use& use) const {
        const TensorId tensor = m_units[u].output;
        const SourceTensor* source =
            m_comparison.source == nullptr ? nullptr : &m_comparison.source->units[u];
        if (source != nullptr && !source->tensor.valid()) return;
        const Workspace& whole = chunk.workspaces[0];
        const Workspace& referring = source == nullptr ? whole : chunk.workspaces[m_sourceAt];
        const TensorId reference = source == nullptr ? tensor : source->tensor;
        const TensorDesc& desc = referring.program().desc(reference);
        TensorDesc other = workspace.program().desc(tensor);
        if (desc.type != DataType::Float32) return;
        const bool rescaled = source != nullptr && !source->factors.empty();
        const bool converts = (other.layout != desc.layout && desc.dims.size() >= 3) || rescaled;
        const auto expected =
            presentValues(desc, referring.floats(reference), chunk.samples, chunk.gathered[0]);
        const std::size_t samples = desc.samples.perSample() ? chunk.samples : 1;
        const float* values = nullptr;
        if (const FakeQuant* quantizer = workspace.program().codesOf(tensor)) {
            const auto* codes = static_cast<const std::uint8_t*>(workspace.data(tensor));
            if (!converts && desc.samples.runs <= 1)
                return use({index, chunk.index, chunk.worker, expected.data(), nullptr, desc, expected.size(),
                            samples, whole, codes, quantizer});
            chunk.decoded.resize(other.count());
            decode(*quantizer, codes, chunk.decoded.data(), chunk.decoded.size());
            other.type = DataType::Float32;
            values = chunk.decoded.data();
        } else {
            values = workspace.floats(tensor);
        }
        if (converts) {
            chunk.converted.resize(desc.count());
            convertLayout(other, values, desc.layout, chunk.converted.data());
            if (rescaled) multiplyChannels(desc, *source, chunk.converted.data());
            values = chunk.converted.data();
        }
        // Both tensors have the layout of the reference now.
        const auto found = presentValues(desc, values, chunk.samples, chunk.gathered[1]);
        use({index, chunk.index, chunk.worker, expected.data(), found.data(), desc, expected.size(), samples,
             whole});
    }

    const UnitComparison& m_comparison;
    const Plan& m_plan;
    const std::vector<Unit>& m_units;
    std::vector<BoundProgram> m_programs;  ///< the float network comes first
    std::size_t m_quantizedAt = 0, m_sourceAt = 0;
    std::vector<std::shared_ptr<const Program>> m_alone;     ///< of each unit in `local`
    std::vector<std::map<TensorId, TensorDesc>> m_operands;  ///< of each unit in `local`
};

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
        ComparisonPass(passes[p]).run(run);
    }
}

}  // namespace quantloupe
