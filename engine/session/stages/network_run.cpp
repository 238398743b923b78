// SPDX-License-Identifier: Apache-2.0
#include "session/stages/network_run.h"

#include "session/stages/judge_samples.h"
#include "session/stopwatch.h"

namespace quantloupe {

ProgramSpec floatNetwork(SessionSamples& samples, const GraphPtr& graph) {
    return floatProgram(graph, samples.batches().inputsOf(*graph), samples.part().endsOf(*graph));
}

NetworkRun::NetworkRun(const EvaluationRequest& request, ProgramSpec spec, const Version& version,
                       const char* stage)
    : m_request(request), m_spec(std::move(spec)), m_version(version), m_stage(stage) {
    if (const auto* known = request.parts.results.outputs.find(version))
        m_outputs = *known;
    else
        restart();
}

void NetworkRun::restart() {
    m_outputs = m_request.parts.results.outputs.store(
        m_version, std::make_shared<NetworkOutputs>(emptyOutputs(m_request.parts.samples)));
}

double NetworkRun::run(std::size_t chunks, const std::function<void(std::size_t samples)>& partial) {
    SessionParts& parts = m_request.parts;
    const SampleBatches& batches = parts.samples.batches();
    const std::size_t begin = (m_outputs->known + batches.batch() - 1) / batches.batch();
    if (begin >= chunks) return 0;
    const Stopwatch watch;
    ProgramSpec spec = m_spec;
    spec.kernels = parts.runner.kernels();
    ResumeOptions resume = parts.runner.sharedResumeOptions(spec.graph);
    resume.keep =
        m_request.purpose == EvaluationPurpose::Edit || m_request.purpose == EvaluationPurpose::Search;
    if (m_stored) resume.wanted = &*m_stored;
    const BoundProgram program = resumedProgram(std::move(spec), resume, batches.chunks(), begin, chunks);
    RunControl control = m_request.control(m_stage);
    if (partial && control.group == nullptr)
        control.progress = [&, report = control.progress](std::size_t done, std::size_t total) {
            if (report) report(done, total);
            if (done < total) partial(begin * batches.batch() + done);
        };
    parts.work.computed += program.program->allDims().size();
    runOutputs(program, m_spec.observed, batches, begin, chunks, control, *m_outputs);
    return watch.seconds();
}

void NetworkRun::judge(std::size_t samples) {
    judgeSamples(m_request.parts.samples, *m_outputs, samples, m_spec, m_request.cancel);
}

Accuracy NetworkRun::accuracyAgainst(const NetworkRun& reference, std::size_t samples) const {
    SessionSamples& data = m_request.parts.samples;
    return accuracyOf(*m_outputs, *reference.m_outputs, *data.evaluation(), data.judge(), samples);
}

}  // namespace quantloupe
