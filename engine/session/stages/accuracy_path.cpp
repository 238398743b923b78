// SPDX-License-Identifier: Apache-2.0
// Session::accuracyPath: runs the same samples through the network as it is changed step by step.
#include "session/session_impl.h"

namespace quantloupe {

std::vector<AccuracyStep> Session::accuracyPath(const QuantizationConfig& config,
                                                const CancelToken& cancel) try {
    Impl& impl = *m_impl;
    impl.requireData();
    impl.requireEvaluable();
    impl.openBatches();
    const SampleBatches& batches = *impl.evaluationBatches;
    const RunControl control = impl.sharedControl(cancel);
    const auto run = [&](ProgramSpec spec) {
        const GraphPtr graph = spec.graph;
        spec.kernels = impl.kernels;
        ResumeOptions resume = impl.sharedResumeOptions(graph);
        resume.keep = false;
        NetworkOutputs outputs = impl.emptyOutputs();
        runOutputs(resumedProgram(spec, resume, batches.chunks(), 0, batches.chunks()),
                   impl.part.endsOf(*graph), batches, 0, batches.chunks(), control, outputs);
        impl.judgeSamples(outputs, batches.samples(), spec, cancel);
        return outputs;
    };
    const auto ends = [&](const GraphPtr& graph) { return impl.part.endsOf(*graph); };
    const auto floating = [&](const GraphPtr& graph) {
        return run(floatProgram(graph, batches.inputsOf(*graph), ends(graph)));
    };

    std::vector<AccuracyStep> steps;
    const NetworkOutputs reference = floating(impl.model.graph);
    const auto add = [&](const char* name, const NetworkOutputs& outputs) {
        steps.push_back({name, accuracyOf(outputs, reference, *impl.evaluationData, impl.judge.get(),
                                          batches.samples())});
    };
    add("float", reference);

    const TransformOptions& transforms = config.transforms;
    QuantizationConfig soFar = config;
    soFar.transforms = {};
    soFar.refine.migration = 0;
    soFar.transforms.foldBatchNorm = transforms.foldBatchNorm;
    soFar.transforms.skipFolding = transforms.skipFolding;
    if (transforms.foldBatchNorm) add("batch norms folded", floating(impl.prepare(soFar)->graph));
    soFar.transforms.replaceRelu6 = transforms.replaceRelu6;
    if (transforms.replaceRelu6 != ReplaceRelu6::None)
        add("ReLU6 replaced", floating(impl.prepare(soFar)->graph));
    soFar.transforms = transforms;
    soFar.transforms.npuOperators = {};
    if (transforms.equalization.profile != EqualizationProfile::Off)
        add("equalized", floating(impl.prepare(soFar)->graph));
    soFar.transforms = transforms;
    if (transforms.npuOperators != NpuOperators{})
        add("NPU operators replaced", floating(impl.prepare(soFar)->graph));
    if (config.refine.migration > 0) add("outliers migrated", floating(impl.prepare(config)->graph));

    const auto plan = impl.plan(config, control);
    const GraphPtr& graph = plan->prepared->graph;
    ProgramSpec weightsOnly = plan->networkSpec(batches.inputsOf(*graph), ends(graph));
    weightsOnly.quantizers.clear();
    weightsOnly.codes.clear();
    add("weights quantized", run(std::move(weightsOnly)));
    add("activations quantized", run(plan->networkSpec(batches.inputsOf(*graph), ends(graph))));
    return steps;
} catch (...) {
    m_impl->rethrowWithModel();
}

}  // namespace quantloupe
