// SPDX-License-Identifier: Apache-2.0
// Session::outputs: what the networks say about each sample, in the data's own order.
#include <algorithm>

#include "session/session_impl.h"

namespace quantloupe {

std::shared_ptr<const NetworkOutputs> Session::Impl::completeOutputs(const std::shared_ptr<const Plan>& plan,
                                                                     const RunControl& control) {
    const SampleBatches& batches = *evaluationBatches;
    const GraphPtr graph = plan ? plan->prepared->graph : model.graph;
    const Version version = plan ? plan->version : graph->version();
    if (const auto* known = outputs.find(version); known != nullptr && (*known)->complete(batches.samples())) return *known;
    const std::vector<TensorId> observed(graph->outputs().begin(), graph->outputs().end());
    ProgramSpec spec = floatProgram(graph, batches.inputsOf(*graph), observed);
    if (plan) spec = plan->networkSpec(batches.inputsOf(*graph), observed);
    spec.kernels = kernels;
    auto result = std::make_shared<NetworkOutputs>();
    runOutputs(Program::compile(std::move(spec)), *graph, batches, 0, batches.chunks(), control, *result);
    return outputs.store(version, std::move(result));
}

std::vector<ConstantPtr> Session::outputs(const std::optional<QuantizationConfig>& config, const CancelToken& cancel) try {
    Impl& impl = *m_impl;
    impl.requireData();
    impl.requireOperators();
    if (impl.batch == 0) impl.batch = suitableBatch(impl.model.graph, impl.evaluationData);
    const RunControl control{impl.workers, cancel, {}};
    impl.openBatches();
    const std::size_t samples = impl.evaluationBatches->samples();
    const auto result = impl.completeOutputs(config ? impl.plan(*config, control) : nullptr, control);

    std::vector<ConstantPtr> arrays(impl.model.graph->outputs().size());
    std::size_t column = 0;
    for (std::size_t o = 0; o < result->widths.size(); ++o) {
        const std::size_t width = result->widths[o];
        std::vector<float> values(width * samples);
        for (std::size_t s = 0; s < samples; ++s)
            std::copy_n(result->row(s) + column, width, values.begin() + static_cast<std::ptrdiff_t>(impl.order[s] * width));
        Dims dims = result->descs[o].dims;
        dims[0] = static_cast<std::int64_t>(samples);
        arrays[result->compared[o]] = Constant::fromFloats(std::move(dims), std::move(values));
        column += width;
    }
    return arrays;
} catch (...) {
    m_impl->rethrowWithModel();
}

}  // namespace quantloupe
