// SPDX-License-Identifier: Apache-2.0
#include "session/stages/user_metrics.h"

#include "session/session_impl.h"

namespace quantloupe {

UserMetricValues measureUserMetric(Session& session, const QuantizationConfig& config,
                                   const UserMetric& metric, const CancelToken& cancel) {
    Session::Impl& impl = session.internal();
    impl.requireData();
    const Dataset& data = *impl.evaluationData;
    std::vector<int> labels;
    if (data.hasLabels()) {
        labels.resize(data.size(), -1);
        for (std::size_t s = 0; s < data.size(); ++s) labels[impl.order[s]] = data.label(s).value_or(-1);
    }
    const auto valueOf = [&](const std::optional<QuantizationConfig>& network) {
        const std::vector<ConstantPtr> arrays = session.outputs(network, cancel);
        std::map<std::string, ConstantPtr> named;
        const Graph& graph = session.graph();
        for (std::size_t o = 0; o < arrays.size(); ++o)
            named[graph.tensor(graph.outputs()[o]).name] = arrays[o];
        return runUserMetric(metric, named, labels, cancel);
    };
    return {valueOf(std::nullopt), valueOf(config)};
}

}  // namespace quantloupe
