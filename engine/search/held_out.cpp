// SPDX-License-Identifier: Apache-2.0
// A search on a part of the samples, whose result is evaluated on the others.
#include <fmt/format.h>

#include "base/error.h"
#include "results/task_metric.h"
#include "search/tune.h"
#include "search/tune_numbers.h"
#include "session/studies/search_context.h"

namespace quantloupe {

TuneResult tuneOnPart(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                      const CancelToken& cancel, std::size_t enough) {
    if (!session.hasData() || session.randomInputs() || session.sampleCount() < enough)
        return tune(session, config, options, cancel);
    const SampleSplit split = splitSamples(session);
    const auto restore = [&] { session.setData(split.all, split.calibration); };
    try {
        session.setData(split.search, split.calibration);
        TuneResult result = tune(session, config, options, cancel);
        session.setData(split.heldOut, split.calibration);
        try {
            const EvaluationPtr evaluation =
                session.evaluate(result.curve[result.chosen].config, Depth::Accuracy, {}, cancel);
            result.heldOut = {evaluation->samples, taskMetric(*evaluation->quantized).value,
                              dropOf(*evaluation->floating, *evaluation->quantized),
                              dropIntervalOf(*evaluation)};
        } catch (const Cancelled&) {
            result.notices.emplace_back(
                "the result was not evaluated on held-out samples: you stopped the search");
        } catch (const Error& error) {
            if (session.group() != nullptr) throw;  // The other processes wait for this one.
            result.notices.push_back(
                fmt::format("the result was not evaluated on held-out samples: {}", error.what()));
        }
        restore();
        return result;
    } catch (...) {
        restore();
        throw;
    }
}

}  // namespace quantloupe
