// SPDX-License-Identifier: Apache-2.0
#include "interchange/gather.h"

#include "base/error.h"

namespace quantloupe {

ExportSource gatherExport(Session& session, const QuantizationConfig& config, const Dialect& dialect,
                          const EvaluationObserver& observer, const CancelToken& cancel) {
    const bool calibrates = session.hasData() && !session.randomInputs();
    if (dialect.needs == DialectNeeds::Scales && !calibrates)
        failInput("{} holds scales, and scales need samples: open calibration data first (--calibration-data)", dialect.title);
    const bool metrics = dialect.needs == DialectNeeds::Metrics && session.hasData();
    ExportSource source;
    source.config = config;
    source.prepared = session.prepare(config);
    source.model = session.model().path;
    source.evaluation = session.evaluate(config, metrics ? Depth::Metrics : Depth::States, observer, cancel);
    source.layers = source.evaluation->layers;
    const bool scales = dialect.needs == DialectNeeds::Scales || dialect.needs == DialectNeeds::BetterScales;
    if (scales && calibrates) source.plan = session.plan(config, cancel);
    return source;
}

}  // namespace quantloupe
