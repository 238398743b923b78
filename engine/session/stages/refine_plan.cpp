// SPDX-License-Identifier: Apache-2.0
// Creates and refines a plan. The layers' inputs come from runs over the calibration samples that resume from
// stored activations.
#include "session/caches/resumable_run.h"
#include "session/caches/tensor_versions.h"
#include "session/session_impl.h"

namespace quantloupe {

Plan Session::Impl::resolve(const std::shared_ptr<const Prepared>& graph, const UnitList& units,
                            const Statistics& known, const QuantizationConfig& config,
                            const RunControl& control, bool experiment) {
    Plan plan = resolvePlan(graph, units, known, config, quantizers);
    if (config.refine == RefineOptions{}) return plan;
    std::optional<ResumeOptions> resume;
    RefineContext context{.samples = nullptr,
                          .bind = {},
                          .versionOf = {},
                          .cache = refinements,
                          .takeLatest = experiment,
                          .control = control};
    if (needsSamples(config.refine)) {
        openBatches();
        resume.emplace(resumeOptions(graph->graph));
        resume->samples = calibrationVersion();
        context.samples = calibrationBatches.get();
        context.bind = [&](ProgramSpec spec) {
            spec.kernels = kernels;
            const std::size_t chunks = calibrationBatches->chunks();
            return resumedProgram(std::move(spec), *resume, chunks, 0, chunks);
        };
        context.versionOf = [&](const ProgramSpec& spec, TensorId tensor) {
            return tensorVersions(spec, resume->samples)[tensor.index()];
        };
    }
    std::vector<std::string> notices;
    const Refinements refined = refineLayers(plan, config.refine, context, notices);
    plan = resolvePlan(graph, units, known, config, quantizers, refined);
    plan.notices.insert(plan.notices.end(), notices.begin(), notices.end());
    return plan;
}

}  // namespace quantloupe
