// SPDX-License-Identifier: Apache-2.0
// Creates and refines a plan. The layers' inputs come from runs over the calibration samples that resume from
// stored activations.
#include "session/caches/context_version.h"
#include "session/caches/resumable_run.h"
#include "session/caches/tensor_versions.h"
#include "session/pipeline.h"

namespace quantloupe {
namespace {

/// The version of everything that results depend on except which layers are quantized with how many bits.
Version settingsVersion(const Graph& source, QuantizationConfig config) {
    config.precisionRules.clear();
    for (auto& [name, settings] : config.layers) {
        if (!settings.precision) continue;
        settings.precision.reset();  // it has been resolved to bits
        settings.weightBits.reset();
        settings.activationBits.reset();
    }
    return contextVersion(source, config, nullptr);
}

}  // namespace

Plan Pipeline::resolve(const std::shared_ptr<const Prepared>& graph, const UnitList& units,
                       const Statistics& known, const QuantizationConfig& config, const RunControl& control,
                       bool experiment) {
    Plan plan = refined(graph, units, known, config, control, experiment);
    // Integer arithmetic rounds as ONNX does, so the rounding of other tools is simulated in float.
    plan.arithmetic =
        config.quantization.rounding == TieRounding::HalfEven ? m_arithmetic : Arithmetic::Simulation;
    return plan;
}

Plan Pipeline::refined(const std::shared_ptr<const Prepared>& graph, const UnitList& units,
                       const Statistics& known, const QuantizationConfig& config, const RunControl& control,
                       bool experiment) {
    Plan plan = resolvePlan(graph, units, known, config, m_quantizers);
    if (config.refine == RefineOptions{}) return plan;
    std::optional<ResumeOptions> resume;
    RefineContext context{.samples = nullptr,
                          .bind = {},
                          .versionOf = {},
                          .cache = m_refinements,
                          .takeLatest = experiment,
                          .settings = {},
                          .control = control};
    if (needsSamples(config.refine)) {
        const CalibrationSamples& samples = m_samples.calibrationFor(config);
        resume.emplace(m_runner.calibrationOptions(graph->graph, samples));
        context.samples = &samples.batches;
        context.settings =
            VersionBuilder().add(settingsVersion(*m_source, config)).add(samples.version).finish();
        // What experiments learn depends on the network that they start from, but not on those before it.
        const Version network = VersionBuilder().add(plan.version).add(samples.version).finish();
        if (!experiment && network != m_refinements.latestOf) {
            m_refinements.latest.clear();
            m_refinements.latestOf = network;
        }
        context.bind = [&](ProgramSpec spec) {
            spec.kernels = m_runner.kernels();
            const std::size_t chunks = samples.batches.chunks();
            return resumedProgram(std::move(spec), *resume, chunks, 0, chunks);
        };
        context.versionOf = [&](const ProgramSpec& spec, TensorId tensor) {
            return tensorVersions(spec, resume->samples)[tensor.index()];
        };
    }
    std::vector<std::string> notices;
    const Refinements refinements = refineLayers(plan, config.refine, context, notices);
    plan = resolvePlan(graph, units, known, config, m_quantizers, refinements);
    plan.notices.insert(plan.notices.end(), notices.begin(), notices.end());
    return plan;
}

}  // namespace quantloupe
