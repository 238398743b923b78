// SPDX-License-Identifier: Apache-2.0
#include "session/session_parts.h"

#include "base/rethrow.h"
#include "config/precision_rules.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {

SessionParts::SessionParts(Session& owner, LoadedModel loaded, SessionOptions sessionOptions)
    : session(owner),
      model(std::move(loaded)),
      options(std::move(sessionOptions)),
      memoryBudget(options.memory.value_or(defaultActivationBudget())),
      samples(model.graph, options),
      runner(model.graph, samples, options, memoryBudget),
      pipeline(model.graph, options, samples, runner) {}

SessionParts& partsOf(Session& session) { return *session.m_parts; }

std::shared_ptr<const Prepared> SessionParts::prepare(const QuantizationConfig& config) {
    const bool bySkips = config.transforms.equalization.excludeSkipped || hasPrecisions(config);
    const RunControl control = runner.control({});
    return pipeline.prepare(bySkips ? withThresholdsMeasured(*this, config, control) : config, control);
}

std::shared_ptr<const Plan> SessionParts::plan(const QuantizationConfig& config, const RunControl& control) {
    return pipeline.plan(withThresholdsMeasured(*this, config, control), control);
}

void SessionParts::clear() {
    memoryBudget = m_fullBudget;
    pipeline.clear();
    runner.clear();
    results.clear();
    predictor.clear();
}

void SessionParts::clearMetric() {
    results.clearMetric();
    predictor.clear();
}

void SessionParts::rethrowWithModel() const {
    rethrowWithContext(model.path.empty() ? "the model"
                                          : fmt::format("model '{}'", model.path.filename().string()));
}

}  // namespace quantloupe
