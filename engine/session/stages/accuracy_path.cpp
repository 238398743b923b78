// SPDX-License-Identifier: Apache-2.0
// Session::accuracyPath: runs the same samples through the network as it is changed step by step.
#include "session/session_parts.h"
#include "session/stages/judge_samples.h"

namespace quantloupe {

std::vector<AccuracyStep> Session::accuracyPath(const QuantizationConfig& config,
                                                const CancelToken& cancel) try {
    SessionParts& parts = *m_parts;
    SessionSamples& samples = parts.samples;
    samples.requireEvaluable();
    const SampleBatches& batches = samples.batches();
    const RunControl control = parts.runner.sharedControl(cancel);
    const auto ends = [&](const GraphPtr& graph) { return samples.part().endsOf(*graph); };
    const auto run = [&](ProgramSpec spec) {
        const GraphPtr graph = spec.graph;
        spec.kernels = parts.runner.kernels();
        ResumeOptions resume = parts.runner.sharedResumeOptions(graph);
        resume.keep = false;
        NetworkOutputs outputs = emptyOutputs(samples);
        runOutputs(resumedProgram(spec, resume, batches.chunks(), 0, batches.chunks()), ends(graph), batches,
                   0, batches.chunks(), control, outputs);
        judgeSamples(samples, outputs, batches.samples(), spec, cancel);
        return outputs;
    };
    const auto floating = [&](const GraphPtr& graph) {
        return run(floatProgram(graph, batches.inputsOf(*graph), ends(graph)));
    };

    std::vector<AccuracyStep> steps;
    const NetworkOutputs reference = floating(parts.model.graph);
    const auto add = [&](const char* name, const NetworkOutputs& outputs) {
        steps.push_back({name, accuracyOf(outputs, reference, *samples.evaluation(), samples.judge(),
                                          batches.samples())});
    };
    add("float", reference);

    const TransformOptions& transforms = config.transforms;
    QuantizationConfig soFar = config;
    soFar.transforms = {};
    soFar.refine.migration = 0;
    soFar.transforms.foldBatchNorm = transforms.foldBatchNorm;
    soFar.transforms.skipFolding = transforms.skipFolding;
    if (transforms.foldBatchNorm) add("batch norms folded", floating(parts.prepare(soFar)->graph));
    soFar.transforms.replaceRelu6 = transforms.replaceRelu6;
    if (transforms.replaceRelu6 != ReplaceRelu6::None)
        add("ReLU6 replaced", floating(parts.prepare(soFar)->graph));
    soFar.transforms = transforms;
    soFar.transforms.npuOperators = {};
    if (transforms.equalization.profile != EqualizationProfile::Off)
        add("equalized", floating(parts.prepare(soFar)->graph));
    soFar.transforms = transforms;
    if (transforms.npuOperators != NpuOperators{})
        add("NPU operators replaced", floating(parts.prepare(soFar)->graph));
    if (config.refine.migration > 0) add("outliers migrated", floating(parts.prepare(config)->graph));

    const auto plan = parts.plan(config, control);
    const GraphPtr& graph = plan->prepared->graph;
    ProgramSpec weightsOnly = plan->networkSpec(batches.inputsOf(*graph), ends(graph));
    weightsOnly.quantizers.clear();
    weightsOnly.codes.clear();
    add("weights quantized", run(std::move(weightsOnly)));
    add("activations quantized", run(plan->networkSpec(batches.inputsOf(*graph), ends(graph))));
    return steps;
} catch (...) {
    m_parts->rethrowWithModel();
}

}  // namespace quantloupe
