// SPDX-License-Identifier: Apache-2.0
#include "latency.h"

#include "progress_line.h"
#include "session/studies/layer_work.h"

namespace quantloupe::cli {

std::shared_ptr<const LatencyTable> latencyOf(Session& session, const Options& options) {
    if (options.profiles.empty()) return nullptr;
    std::vector<LatencySource> sources;
    for (const auto& [precision, path] : options.profiles)
        sources.push_back({readLatencyFile(path), precision});
    const EvaluationPtr evaluation = session.evaluate(options.config, Depth::Rough);
    auto table =
        std::make_shared<const LatencyTable>(session.graph(), networkWork(session, *evaluation), sources);
    notice("latency: " + table->summary());
    return table;
}

}  // namespace quantloupe::cli
